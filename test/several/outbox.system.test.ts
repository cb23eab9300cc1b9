/** What is sent later, by two sidecars of a bot: once each, in order, whichever of them dies. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GpgPhone, keyOf } from '../support/double-phones.ts'
import { canary } from '../support/double-stage.ts'
import { no } from '../support/double-wire.ts'
import { hasPostgres } from '../support/postgres.ts'
import { usePair } from './pair.ts'

/** A call into this group needs the word of this person. */
const [GROUP, BOSS] = [7001, 815]
const POSTERN_CONFIG = join(mkdtempSync(join(tmpdir(), 'several-outbox-')), 'postern.yaml')
writeFileSync(POSTERN_CONFIG, JSON.stringify({ approve: [{ chats: [GROUP], by: [BOSS] }] }))
const WAIT = { timeout: 30_000 }
const { stage, other } = await usePair({ POSTERN_CONFIG, POSTERN_OUTBOX_COALESCE_EDITS: 'true' })

describe.skipIf(!hasPostgres())('the outbox of a bot with two sidecars', () => {
  test('an approval that one sidecar receives releases the call of the other, and each is sent once', async () => {
    const { world } = stage.double
    const phone = stage.use(await GpgPhone.make())
    const boss = Object.assign(world.addUser(keyOf(phone), BOSS), { phone })
    const office = stage.privateChat(boss)
    const chat = stage.group([await stage.friend()], { id: GROUP })
    const reply = async (text: string, quoting: number | null) => {
      const armored = await phone.seal(text, [stage.botCertificate])
      const replyTo = quoting === null ? null : { id: quoting }
      await stage.deliver([world.message(office, boss, { armored, replyTo })])
    }
    await reply('hi', null)
    const written = (to: number) => world.written.filter(({ chatId }) => chatId === to)
    const body = { chatId: chat.id, text: canary() }
    const calls = [0, 1].map(() => other().call('POST', '/messages', body))
    const states = (await Promise.all(calls)).map(({ json }) => json.result.postern.outbox.state)
    expect(states).toEqual(['asked', 'asked'])
    await expect.poll(() => written(office.id).length).toBe(2)
    for (const { id, body: request } of written(office.id)) {
      const { text } = await phone.open(request.armored, stage.botCertificate)
      await reply(`ok ${/^ok (\S+)$/m.exec(text)?.[1]}`, id)
    }
    await expect.poll(() => written(chat.id).length).toBe(2)
    expect([written(office.id).length, written(chat.id).length]).toEqual([2, 2])
  })

  test('two sidecars send their calls for one time once each, and every call ends as sent', async () => {
    const chats = [stage.group([await stage.friend()]), stage.group([await stage.person()])]
    for (const chat of chats) await stage.send(chat, canary())
    const deliverAt = Date.now() + 3000
    const headers = { prefer: 'respond-async' }
    const giving = Array.from({ length: 24 }, async (_, at) => {
      const body = { chatId: chats[at % 2]?.id, text: canary(), deliverAt }
      const sidecar = at % 3 === 0 ? stage.sidecar : other()
      const { json } = await sidecar.call('POST', '/messages', body, { headers })
      return String(json.result.postern.outbox.id)
    })
    const ids = await Promise.all(giving)
    const states = async () => {
      const { stdout } = await other().postern('outbox', 'list', '--json')
      const all = JSON.parse(stdout) as { id: string; state: string; code: string | null }[]
      return all.filter(({ id }) => ids.includes(id)).map(({ state, code }) => code ?? state)
    }
    await expect.poll(async () => new Set(await states()), WAIT).toEqual(new Set(['sent']))
    const written = stage.double.world.written.map(({ body }) => body.sendId)
    expect(written.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted())
  })

  test('the newest of the edits that wait at two sidecars is made, after one whose answer was lost', async () => {
    const chat = stage.group([await stage.friend()])
    await stage.send(chat, canary())
    const since = stage.double.mark()
    const ids: string[] = []
    {
      using _away = stage.double.script('PATCH', '/messages/7', no(503, 'internal'))
      for (const sidecar of [stage.sidecar, other(), stage.sidecar, other(), stage.sidecar]) {
        const body = { chatId: chat.id, text: canary() }
        const headers = { prefer: 'respond-async' }
        const { json } = await sidecar.call('PATCH', '/messages/7', body, { headers })
        ids.push(json.result.postern.outbox.id)
        if (ids.length === 1) await expect.poll(() => stage.bodies(since).length).toBeGreaterThan(0)
      }
    }
    const states = async () => {
      const { stdout } = await other().postern('outbox', 'list', '--json')
      const all = JSON.parse(stdout) as { id: string; state: string; replacedBy: string | null }[]
      return ids.map((id) => all.find((one) => one.id === id))
    }
    await expect.poll(async () => (await states()).at(-1)?.state, WAIT).toBe('sent')
    const [first, ...rest] = await states()
    expect([first?.state, ...rest.map((one) => one?.replacedBy)]).toEqual([
      'sent',
      ...ids.slice(2),
      null,
    ])
  })

  test('two sidecars send their queued calls in order, once each, after one of them is killed', async () => {
    const chats = [stage.group([await stage.friend()]), stage.group([await stage.person()])]
    for (const chat of chats) await stage.send(chat, canary())
    const since = stage.double.mark()
    const ids: string[][] = [[], []]
    {
      using _away = stage.double.script('POST', '/messages', no(503, 'internal'))
      for (const sidecar of [stage.sidecar, other(), stage.sidecar, other()]) {
        for (const [at, chat] of chats.entries()) {
          const body = { chatId: chat.id, text: canary() }
          const headers = { prefer: 'respond-async' }
          const given = await sidecar.call('POST', '/messages', body, { headers })
          ids[at]?.push(given.json.result.postern.outbox.id)
        }
      }
      await expect.poll(() => stage.bodies(since).length).toBeGreaterThan(0)
      await stage.sidecar.kill()
    }
    const written = () =>
      stage.double.world.written.flatMap(({ body }) => (body.sendId === undefined ? [] : [body]))
    const sendIds = (chatId: number) =>
      written()
        .flatMap((body) => (body.chatId === chatId ? [body.sendId] : []))
        .slice(1)
    await expect.poll(() => chats.flatMap(({ id }) => sendIds(id)).length).toBe(8)
    expect(chats.map(({ id }) => sendIds(id))).toEqual(ids)
  })
})
