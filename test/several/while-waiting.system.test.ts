/** What one sidecar learns while another waits for the service: the other knows before it decides. */
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetched, named, picture, sealedBy } from '../attachments/support.ts'
import { keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person, type Stage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../support/postgres.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const env: Record<string, string> = {
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_STORE_SCHEMA: freshSchema(),
  POSTERN_CACHE_KEY_LIST_SECONDS: '1',
}
if (hasPostgres()) env['POSTERN_STORE_URL'] = (await sharedCluster()).url
const stage = hasPostgres() ? useStage({ env }) : (null as never as Stage)
let other: Sidecar

/** What counts as just now is over. */
const WHILE_MS = 700

/** Calls, and holds up to `most` calls of this kind up at the service until `meanwhile` is through. */
async function whileHeld<T>(
  [method, path, most = Infinity]: [string, string | RegExp, number?],
  call: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  const [came, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let held = 0
  using _rule = stage.double.script(method, path, async () => {
    held += 1
    if (held > most) return undefined
    came.resolve()
    await goOn.promise
    return undefined
  })
  const called = call()
  await came.promise
  await Promise.all([meanwhile(), pause(WHILE_MS)])
  goOn.resolve()
  return await called
}

/** A person in a private chat, whose certificate every sidecar knows. */
async function acquaintance(): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect((await stage.send(chat, 'words')).status).toBe(201)
  return { person, chat }
}

const block = async ({ id }: Person): Promise<void> => {
  expect((await other.postern('trust', 'block', String(id))).code).toBe(0)
}

/** The other sidecar is shown once that a group is protected. */
async function seeProtected(group: DoubleChat): Promise<void> {
  group.mode = 'protected'
  await other.call('GET', `/chats/${group.id}`)
  Object.assign(group, { mode: 'open' })
}

describe.skipIf(!hasPostgres())(
  'a decision at one sidecar while the other learns something new',
  () => {
    beforeAll(async () => {
      other = stage.use(await startSidecar({ upstream: stage.double.url, env }))
      await other.whenReady()
    })

    test('a group that the other sidecar sees as protected during the send receives no readable text', async () => {
      const group = stage.openGroup({ people: [await stage.friend()] })
      await stage.show(group)
      const words = canary()
      const { status, json } = await whileHeld(
        ['GET', `/chats/${group.id}`, 1],
        () => stage.send(group, words),
        () => seeProtected(group),
      )
      expect([status, json.error?.code]).toEqual([409, 'postern_downgrade_refused'])
      stage.expectNowhere(words)
    })

    test('a person whom the other sidecar blocks during the send receives nothing', async () => {
      const { person, chat } = await acquaintance()
      const { chat: busyChat } = await acquaintance()
      await pause(1000)
      // a send that stays under way keeps the lock that sends share
      const { status, json } = await whileHeld(
        ['POST', '/messages'],
        () => stage.send(busyChat, 'words'),
        async () => {
          const sent = await whileHeld(
            ['GET', `/chats/${chat.id}/keys`],
            () => stage.send(chat, 'words'),
            () => block(person),
          )
          expect([sent.status, sent.json.error?.code]).toEqual([409, 'postern_trust_required'])
        },
      )
      expect([status, json.ok]).toEqual([201, true])
    })

    test('a message by a person whom the other sidecar blocks during the poll has the reason `blocked`', async () => {
      const { person, chat } = await acquaintance()
      const armored = await person.phone.seal('signed words', [stage.botCertificate])
      const group = stage.openGroup({ people: [await stage.friend()] })
      await stage.show(group)
      const { world } = stage.double
      // the first one is held up: however long that takes, no answer has the second alone
      const batch = [
        world.message(group, await stage.friend(), { text: 'readable' }),
        world.message(chat, person, { armored }),
      ]
      const [, read] = await whileHeld(
        ['GET', `/chats/${group.id}`],
        () => stage.deliver(batch),
        () => block(person),
      )
      expect([read.postern.verdict, read.postern.reason]).toEqual(['unknown-signer', 'blocked'])
    })

    test('text in a group that the other sidecar sees as protected during the poll is withheld', async () => {
      const person = await stage.friend()
      const [group, slow] = [stage.openGroup({ people: [person] }), stage.openGroup()]
      await stage.show(group)
      await stage.show(slow)
      const { world } = stage.double
      const readable = (chat: DoubleChat) => world.message(chat, person, { text: 'readable' })
      const read = await whileHeld(
        ['GET', `/chats/${slow.id}`],
        () => stage.deliver([readable(slow), readable(group)]),
        () => seeProtected(group),
      )
      expect(read.map(({ postern }) => postern?.verdict)).toEqual([
        undefined,
        'plaintext-in-protected',
      ])
    })

    test('a file by a person whom the other sidecar blocks during the download is refused', async () => {
      const { person, chat } = await acquaintance()
      const url = await named(stage, await sealedBy(person, stage, picture()), {
        chat,
        from: person,
      })
      const { status, code } = await whileHeld(
        ['GET', /^\/media/],
        () => fetched(stage, url),
        () => block(person),
      )
      expect([status, code]).toEqual([422, 'postern_bad_signature'])
    })

    test('an unsealed file in a group that the other sidecar sees as protected during the download is refused', async () => {
      const person = await stage.friend()
      const group = stage.openGroup({ people: [person] })
      const url = await named(stage, picture(), { chat: group, from: person })
      const { status, code } = await whileHeld(
        ['GET', /^\/media/],
        () => fetched(stage, url),
        () => seeProtected(group),
      )
      expect([status, code]).toEqual([422, 'postern_plaintext_in_protected'])
    })
  },
)

describe.skipIf(!hasPostgres())('knowledge that the other sidecar has stored', () => {
  test('a certificate that is revoked at the other sidecar is unusable in a key list cached here', async () => {
    const { person, chat } = await acquaintance()
    const { key } = person
    await person.phone.revoke()
    person.key = keyOf(person.phone)
    const seen = await other.call('POST', '/messages', { chatId: chat.id, text: 'words' })
    expect([seen.status, seen.json.error?.code]).toEqual([409, 'postern_recipient_unusable'])
    person.key = key
    const { status, json } = await stage.send(chat, 'words')
    expect([status, json.error?.code]).toEqual([409, 'postern_recipient_unusable'])
  })

  test('a file by a person whom the other sidecar blocked is refused, although it was served before', async () => {
    const { person, chat } = await acquaintance()
    const url = await named(stage, await sealedBy(person, stage, picture()), { chat, from: person })
    expect((await fetched(stage, url)).status).toBe(200)
    await block(person)
    const { status, code } = await fetched(stage, url)
    expect([status, code]).toEqual([422, 'postern_bad_signature'])
  })
})
