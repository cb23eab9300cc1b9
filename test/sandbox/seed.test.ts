import { expect, test } from 'vitest'
import { AT_MS, pairWith, still, texts, token } from './seeded.ts'
import { A_KEY, ask, BUTTON, outcome } from './support.ts'

const MINUTE_MS = 60_000

test('a world has exactly the people, bots and chats of its seed', async () => {
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

test('history messages have the age of the seed, and queue updates unless they are too old', async () => {
  await using sandbox = await still(
    pairWith([
      { from: 'alice', text: 'too old for the queue', ago: '4d' },
      { from: 'alice', text: 'one', ago: '90m' },
      { from: 'echo_bot', text: 'two', ago: '1h', replyTo: 2, markup: BUTTON },
    ]),
  )
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

test('a history message of an encrypted chat is sealed by its author and verified by the others', async () => {
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

test('a seed sets keys, blocks, closed accounts, pauses, tokens, commands and faults', async () => {
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
  expect(bob?.username).toBe('bob')
  expect([await send(dm), await send(bobDm)]).toEqual(['blocked_by_user', 'user_gone'])
  expect((await ask(sandbox, 'GET /commands', as)).status).toBe(503)
  const { result } = await ask<{ scope: string }[]>(sandbox, 'GET /commands', as)
  expect(result.map(({ scope }) => scope)).toEqual(['default', `chat:${market}`])
})

test('a restricted member may have written in the history of a seed, and cannot write later', async () => {
  await using sandbox = await still({
    people: { alice: { key: 'none' }, bob: { key: 'none' } },
    bots: { echo_bot: {} },
    chats: {
      market: {
        kind: 'group',
        mode: 'open',
        members: { alice: 'owner', bob: 'restricted', echo_bot: 'member' },
        history: [{ from: 'bob', text: 'while I may' }],
      },
    },
  })
  expect(await texts(sandbox)).toEqual(['while I may'])
  const [chat, bob] = [sandbox.chats[0]?.id ?? 0, sandbox.people[1]?.id ?? 0]
  const late = sandbox.control.post({ userId: bob, chatId: chat, text: 'too late' })
  await expect(late).rejects.toThrow('restricted')
})
