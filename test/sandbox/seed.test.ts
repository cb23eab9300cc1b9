import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'
import { A_KEY, ask, outcome } from './support.ts'
import { observableState, temporaryFolder } from './world-file.ts'

const AT = '2031-05-06T07:08:09Z'
const AT_MS = Date.parse(AT)
const MINUTE_MS = 60_000

/** A world whose clock stands still, so that nothing happens before `advance`. */
function still(seed: SeedInput): Promise<Sandbox> {
  return createSandbox({ world: { clock: { at: AT, mode: 'still' }, ...seed } })
}

const token = ({ bots }: Sandbox, index = 0): string => bots[index]?.token ?? ''

const PAIR: SeedInput = {
  people: { alice: { key: 'none' } },
  bots: { echo_bot: {} },
  chats: { dm: { kind: 'private', person: 'alice', bot: 'echo_bot' } },
}

/** Texts of a chat, oldest first. */
async function texts({ control, chats }: Sandbox, index = 0): Promise<(string | null)[]> {
  const messages = await control.messages({ chatId: chats[index]?.id ?? 0 })
  return messages.map(({ text, kind }) => (kind === 'user' ? text : kind))
}

test('people, bots and chats are as the seed has them, and nobody else is there', async () => {
  await using sandbox = await still({
    people: { alice: { firstName: 'Alice', lastName: 'Baker', key: 'none' }, bob: { key: 'none' } },
    bots: { echo_bot: { name: 'Echo', about: 'Says', privacyMode: false, allowGroups: true } },
    chats: {
      market: {
        kind: 'group',
        mode: 'open',
        title: 'Market',
        username: 'market_sq',
        slowModeSeconds: 7,
        members: {
          alice: 'owner',
          bob: { status: 'admin', rights: ['deleteMessages', 'changeInfo'], title: 'Boss' },
          echo_bot: { status: 'restricted', restrictedFor: '1h' },
        },
      },
      office: { kind: 'group', rosterHidden: true, members: { bob: 'owner', echo_bot: 'member' } },
      news: { kind: 'channel', members: { alice: 'owner', echo_bot: 'admin' } },
    },
  })
  expect(sandbox.people.map(({ username }) => username)).toEqual(['alice', 'bob'])
  expect(sandbox.chats.map(({ kind, mode }) => `${kind} ${mode}`)).toEqual([
    'group open',
    'group protected',
    'channel protected',
  ])
  expect(sandbox.now()).toBe(AT_MS)
  const [market, office, news] = sandbox.chats.map(({ id }) => id)
  const get = async (path: string) =>
    (await ask<Record<string, unknown>>(sandbox, `GET ${path}`, { token: token(sandbox) })).result
  expect(await get('/me')).toMatchObject({ name: 'Echo', about: 'Says', privacyMode: false })
  expect(await get(`/chats/${market}`)).toMatchObject({
    title: 'Market',
    username: 'market_sq',
    slowModeSeconds: 7,
    memberCount: 3,
    me: { status: 'restricted', restrictedUntil: AT_MS + 60 * MINUTE_MS },
  })
  const [, bob] = sandbox.people
  expect(await get(`/chats/${market}/members/${bob?.id}`)).toMatchObject({
    status: 'admin',
    rights: 1 | 8,
    title: 'Boss',
  })
  expect(await get(`/chats/${office}`)).toMatchObject({ title: 'office', memberCount: 2 })
  expect(await get(`/chats/${office}/members`)).toMatchObject({ memberCount: 1 })
  expect(await get(`/chats/${news}`)).toMatchObject({ me: { status: 'admin', rights: 31 } })
  expect(() => sandbox.home).toThrow(/no home/)
})

test('the history is as old as it should be, and bots get updates of it', async () => {
  await using sandbox = await still({
    ...PAIR,
    chats: {
      dm: {
        kind: 'private',
        person: 'alice',
        bot: 'echo_bot',
        history: [
          { from: 'alice', text: 'too old for the queue', ago: '4d' },
          { from: 'alice', text: 'one', ago: '90m' },
          {
            from: 'echo_bot',
            text: 'two',
            ago: '1h',
            replyTo: 2,
            markup: { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] },
          },
        ],
      },
    },
  })
  const [chat = { id: 0 }] = sandbox.chats
  const messages = await sandbox.control.messages({ chatId: chat.id })
  expect(messages.map(({ date }) => AT_MS - date)).toEqual([
    4 * 24 * 60 * MINUTE_MS,
    90 * MINUTE_MS,
    60 * MINUTE_MS,
  ])
  expect(messages[2]).toMatchObject({ replyTo: 2, markup: { inlineKeyboard: [[{ text: 'b' }]] } })
  const { result } = await ask<object[]>(sandbox, 'GET /updates', { token: token(sandbox) })
  expect(result).toMatchObject([{ kind: 'message', message: { text: 'one' } }])
})

test('a sealed message is sealed by its writer’s phone, and opened by the others’', async () => {
  await using sandbox = await still({
    people: { alice: {}, bob: { key: 'p256' } },
    bots: {},
    chats: {
      office: {
        kind: 'group',
        members: { alice: 'owner', bob: 'member' },
        history: [
          { from: 'alice', text: 'who has the keys?' },
          { from: 'bob', text: 'me' },
        ],
      },
    },
  })
  expect(await texts(sandbox)).toEqual([null, null])
  const [alice = { id: 0 }, bob = { id: 0 }] = sandbox.people
  const inboxOf = async (userId: number) => (await sandbox.control.inbox({ userId })).inbox
  expect(await inboxOf(bob.id)).toMatchObject([{ text: 'who has the keys?', verdict: 'verified' }])
  expect(await inboxOf(alice.id)).toMatchObject([{ text: 'me', verdict: 'verified' }])
})

test('keys of every kind, blocks, closed accounts, pauses, tokens and commands stand', async () => {
  const secret = 'q'.repeat(43)
  await using sandbox = await still({
    people: {
      alice: { key: A_KEY, blocks: ['echo_bot'] },
      bob: { key: 'none', gone: true },
      carol: { key: 'none' },
    },
    bots: {
      echo_bot: {
        key: { ...A_KEY, fingerprint: 'B'.repeat(40) },
        tokenSecret: secret,
        commands: {
          default: [{ command: 'go', description: 'Go' }],
          'chat:market': [{ command: 'buy', description: 'Buy' }],
        },
      },
      tired_bot: { paused: true },
    },
    chats: {
      dm: { kind: 'private', person: 'alice', bot: 'echo_bot' },
      'bob-dm': { kind: 'private', person: 'bob', bot: 'echo_bot' },
      market: { kind: 'group', mode: 'open', members: { carol: 'owner', echo_bot: 'member' } },
    },
    faults: [{ name: 'error', route: 'getCommands', status: 503, times: 1, botId: 'echo_bot' }],
  })
  const [echo, tired] = sandbox.bots
  expect(echo?.token).toBe(`sandbox_${echo?.id}.${secret}`)
  const as = { token: echo?.token ?? '' }
  expect((await ask(sandbox, 'GET /me', as)).result).toMatchObject({ mode: 'protected' })
  expect(await outcome(sandbox, 'GET /chats/1', { token: tired?.token ?? '' })).toBe('bot_paused')
  const [alice, bob] = sandbox.people
  expect((await ask(sandbox, `GET /users/${alice?.id}/key`, as)).result).toMatchObject(A_KEY)
  const [dm, bobDm, market] = sandbox.chats.map(({ id }) => id)
  const send = (chatId: number | undefined) =>
    outcome(sandbox, 'POST /messages', { ...as, body: { chatId, armored: 'x' } })
  expect([bob?.username, await send(dm), await send(bobDm)]).toEqual([
    'bob',
    'blocked_by_user',
    'user_gone',
  ])
  expect((await ask(sandbox, 'GET /commands', as)).status).toBe(503)
  const { result } = await ask<{ scope: string }[]>(sandbox, 'GET /commands', as)
  expect(result.map(({ scope }) => scope)).toEqual(['default', `chat:${market}`])
})

test('steps happen at their time, in their order, and find the newest message', async () => {
  await using sandbox = await still({
    ...PAIR,
    chats: {
      dm: {
        kind: 'private',
        person: 'alice',
        bot: 'echo_bot',
        history: [
          {
            from: 'echo_bot',
            text: 'press',
            markup: { inlineKeyboard: [[{ text: 'b', callbackData: 'd' }]] },
          },
        ],
      },
    },
    schedule: [
      { at: '10s', post: { userId: 'alice', chatId: 'dm', text: 'third' } },
      { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'first' } },
      { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'second', replyTo: 'last' } },
      { at: '3s', press: { userId: 'alice', chatId: 'dm', messageId: 'last by echo_bot' } },
      { at: '1h', pause: { botId: 'echo_bot' } },
    ],
  })
  const { control } = sandbox
  await control.advance({ ms: 1999 })
  expect(await texts(sandbox)).toEqual(['press'])
  await control.advance({ ms: 1 })
  expect(await texts(sandbox)).toEqual(['press', 'first', 'second'])
  await control.advance({ ms: 7999 })
  expect(await control.schedule({})).toMatchObject({ left: 2, errors: [] })
  await control.advance({ ms: 1 })
  expect(await texts(sandbox)).toEqual(['press', 'first', 'second', 'third'])
  const as = { token: token(sandbox) }
  const { result } = await ask<{ kind: string }[]>(sandbox, 'GET /updates', as)
  expect(result.map(({ kind }) => kind)).toEqual([
    'message',
    'message',
    'callback_query',
    'message',
  ])
  expect(result[1]).toMatchObject({ message: { replyTo: { text: 'first' } } })
  await control.advance({ ms: 60 * MINUTE_MS })
  expect(await outcome(sandbox, 'GET /updates', as)).toBe('bot_paused')
})

test('a step that fails is reported, and the rest goes on', async () => {
  const reported: string[] = []
  await using sandbox = await createSandbox({
    world: {
      ...PAIR,
      clock: { mode: 'still' },
      schedule: [
        { at: '1s', press: { userId: 'alice', chatId: 'dm', messageId: 'last' } },
        { at: '2s', post: { userId: 'alice', chatId: 'dm', text: 'still here' } },
      ],
    },
    onStepError: ({ action, reason }) => reported.push(`${action}: ${reason}`),
  })
  await sandbox.control.advance({ ms: 5000 })
  expect(reported).toEqual(['press: there is no such message'])
  expect(await sandbox.control.schedule({})).toMatchObject({
    left: 0,
    errors: [{ action: 'press', reason: 'there is no such message' }],
  })
  expect(await texts(sandbox)).toEqual(['still here'])
})

test('the former names `happenings`, `setSeat`, `onMishap` and `story` go on working', async () => {
  const reported: unknown[] = []
  await using sandbox = await createSandbox({
    world: {
      ...PAIR,
      chats: { room: { kind: 'group', members: { alice: 'owner', echo_bot: 'member' } } },
      clock: { at: AT, mode: 'still' },
      schedule: [{ at: '3s', block: { userId: 'alice', botId: 'echo_bot' } }],
      happenings: [
        { at: '1s', press: { userId: 'alice', chatId: 'room', messageId: 'last' } },
        { at: '2s', setSeat: { userId: 'echo_bot', chatId: 'room', status: 'admin', rights: 16 } },
      ],
    },
    onMishap: (mishap) => reported.push(mishap),
  })
  const { control } = sandbox
  await control.advance({ ms: 2000 })
  const [mishap] = reported
  expect(mishap).toEqual({
    atMs: Date.parse(AT) + 1000,
    deed: 'press',
    why: 'there is no such message',
  })
  expect(await control.story({})).toEqual({ left: 1, mishaps: [mishap] })
  const chatId = sandbox.chats[0]?.id ?? 0
  const me = await ask<{ me: object }>(sandbox, `GET /chats/${chatId}`, { token: token(sandbox) })
  expect(me.result.me).toMatchObject({ status: 'admin', rights: 16 })
})

test('a world file has the names of its first version', async () => {
  const data = join(temporaryFolder(), 'a.world')
  await (async () => {
    await using _sandbox = await createSandbox({
      world: { ...PAIR, schedule: [{ at: '1h', pause: { botId: 'echo_bot' } }] },
      data,
    })
  })()
  const database = new DatabaseSync(data, { readOnly: true })
  const rows = database.prepare('SELECT kind, value FROM records').all()
  database.close()
  const step = rows.find(({ kind }) => kind === 'step')
  expect(JSON.parse(String(step?.['value']))).toEqual({
    atMs: expect.any(Number) as number,
    deed: 'pause',
    input: { botId: expect.any(Number) as number },
  })
  expect(rows.filter(({ kind }) => kind === 'seat')).toHaveLength(2)
})

test('a seed is not applied to a file that holds a world; the schedule of that world goes on', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const seed: SeedInput = {
    ...PAIR,
    clock: { at: AT, mode: 'still' },
    schedule: [
      { at: '1s', post: { userId: 'alice', chatId: 'dm', text: 'before' } },
      { at: '9s', post: { userId: 'alice', chatId: 'dm', text: 'after' } },
    ],
  }
  const before = await (async () => {
    await using sandbox = await createSandbox({ world: seed, data })
    expect(sandbox.isNew).toBe(true)
    await sandbox.control.advance({ ms: 2000 })
    return await observableState(sandbox)
  })()
  await using again = await createSandbox({
    world: { people: { zoe: {} } },
    data,
  })
  expect(again.isNew).toBe(false)
  expect(await observableState(again)).toEqual(before)
  await again.control.advance({ ms: 7000 })
  expect(await texts(again)).toEqual(['before', 'after'])
})
