import { expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ inside: true, env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const postern = async (...args: string[]): Promise<string> => {
  const { code, stderr, stdout } = await stage.sidecar.postern(...args)
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

async function known(): Promise<{ alice: Person; mallory: Person; chat: DoubleChat }> {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const chat = stage.privateChat(alice)
  await stage.show(chat)
  expect((await stage.send(chat, canary())).status).toBe(201)
  return { alice, mallory, chat }
}

/** A send that leaves for nobody. @returns the message of the refusal */
async function refused(chat: DoubleChat): Promise<string> {
  const words = canary()
  const since = stage.double.mark()
  for (const sent of [await stage.send(chat, words), await stage.edit(chat, 7, { text: words })]) {
    expect([sent.status, sent.json.error.code]).toEqual([409, 'postern_recipients_inconsistent'])
  }
  expect(stage.bodies(since)).toEqual([])
  stage.expectNowhere(words)
  return (await stage.send(chat, words)).json.error.message
}

async function personIn(chat: DoubleChat): Promise<number | null> {
  const rows = JSON.parse(await postern('chat', 'list', '--json')) as Json[]
  return rows.find(({ id }) => id === chat.id).personId
}

test('a list of a private chat that names a stranger is refused, under every policy and after verifying', async () => {
  const { alice, mallory, chat } = await known()
  expect(await personIn(chat)).toBe(alice.id)
  for (const people of [[mallory], [alice, mallory]]) {
    chat.people = people
    expect(await refused(chat)).toContain(String(mallory.id))
  }
  await postern('trust', 'verify', String(alice.id), alice.phone.fingerprint)
  await postern('trust', 'accept', String(mallory.id))
  for (const policy of ['first-use', 'pinned', 'accept']) {
    await postern('trust', 'policy', policy)
    await refused(chat)
  }
  const log = (await postern('trust', 'log', '--json')).trim().split('\n')
  const entries = log.map((line) => JSON.parse(line)).filter(({ chatId }) => chatId === chat.id)
  expect(entries.map(({ kind }) => kind)).toContain('list-contradicts')
  chat.people = [alice]
  expect((await stage.send(chat, canary())).status).toBe(201)
})

test('a stranger gets nothing after a restart either, nor under the certificate of the chat’s person', async () => {
  const { alice, mallory, chat } = await known()
  await stage.restart()
  await stage.sidecar.whenReady()
  chat.people = [mallory]
  await refused(chat)
  chat.people = [{ id: mallory.id, key: alice.key }]
  await refused(chat)
})

test('of two sends at once by lists of different people one goes at most, to whom the chat is from then on', async () => {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const chat = stage.privateChat(alice)
  await stage.show(chat)
  let turn = 0
  using _lie = stage.double.script('GET', `/chats/${chat.id}/keys`, () => {
    chat.people = [turn++ % 2 === 0 ? alice : mallory]
    return undefined
  })
  const since = stage.double.mark()
  await Promise.all([1, 2, 3, 4, 5, 6].map(async () => await stage.send(chat, canary())))
  const bound = await personIn(chat)
  expect([alice.id, mallory.id]).toContain(bound)
  const stranger = bound === alice.id ? mallory : alice
  for (const { armored } of stage.bodies(since)) {
    await expect(stranger.phone.open(armored, stage.botCertificate)).rejects.toThrow()
  }
})

test('a list that names several, the bot, or nobody teaches nothing', async () => {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const chat = stage.privateChat(alice)
  await stage.show(chat)
  const lists = [
    [mallory, alice],
    [{ id: 900, key: mallory.key }],
    [
      { id: mallory.id, key: mallory.key },
      { id: mallory.id, key: alice.key },
    ],
  ]
  for (const people of lists) {
    chat.people = people
    await refused(chat)
    expect(await personIn(chat)).toBeNull()
  }
  chat.people = [alice]
  expect((await stage.send(chat, canary())).status).toBe(201)
  expect(await personIn(chat)).toBe(alice.id)
})

test('what GET /chats says of the other person teaches nothing', async () => {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const extra = { user: { id: mallory.id }, userId: mallory.id, person: { id: mallory.id } }
  const chat = stage.privateChat(alice, { extra })
  await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect((await stage.send(chat, canary())).status).toBe(201)
  expect(await personIn(chat)).toBe(alice.id)
})

test('a person who takes another key keeps their chat', async () => {
  const { alice, chat } = await known()
  await alice.phone.rotate()
  chat.people = [{ id: alice.id, key: keyOf(alice.phone) }]
  expect((await stage.send(chat, canary())).status).toBe(201)
})

test('the operator can say whose a private chat is, where the wrong person was learned', async () => {
  const { alice, mallory, chat } = await known()
  chat.people = [mallory]
  await refused(chat)
  expect(await postern('chat', 'bind', String(chat.id), String(mallory.id))).toMatch(/private chat/)
  expect((await stage.send(chat, canary())).status).toBe(201)
  chat.people = [alice]
  await refused(chat)
  const group = stage.group([alice])
  await stage.show(group)
  const ended = await stage.sidecar.postern('chat', 'bind', String(group.id), String(alice.id))
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toMatch(/not known as a private chat/)
})
