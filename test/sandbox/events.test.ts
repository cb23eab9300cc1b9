import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { EVENT_KINDS, type EventKind } from '../../src/sandbox/events/event.ts'
import { SEEN_KINDS } from '../../src/sandbox/phone/seen.ts'
import { still as seeded, PAIR } from './seeded.ts'
import { A_KEY, ask, BUTTON, homeScene, send, sent, still } from './support.ts'
import { createReceiver } from '../contract/receiver.ts'

/** What is recorded of some kinds while something is done. */
async function recorded(sandbox: Sandbox, kinds: EventKind[], act: () => Promise<unknown>) {
  const { last: after } = await sandbox.control.events()
  await act()
  return (await sandbox.control.events({ after, kinds })).events
}

test('a bot’s call is recorded as received and as answered, with its number in the transcript', async () => {
  await using sandbox = await still()
  const events = await recorded(sandbox, ['call'], () => ask(sandbox, 'GET /me?x=1'))
  const call = { kind: 'call', n: 1, by: 'api', method: 'GET', path: '/bot/v1/me?x=1' }
  expect(events).toMatchObject([
    { ...call, phase: 'received', status: 0 },
    { ...call, phase: 'answered', status: 200 },
  ])
  expect(events.map(({ at }) => at)).toEqual([sandbox.now(), sandbox.now()])
})

test('messages, edits, deletions, typing and notices are recorded in order, a message before its update', async () => {
  const { sandbox, control, home } = await homeScene({ rates: 'off' })
  const { alice, bob, bot, privateChat: chatId, readableGroup } = home
  const kinds: EventKind[] = ['message', 'edited', 'deleted', 'typing', 'queued']
  const events = await recorded(sandbox, kinds, async () => {
    const at = { userId: alice.id, chatId }
    const { messageId } = await control.post({ ...at, text: 'x' })
    await control.editMessage({ ...at, messageId, text: 'y' })
    await control.deleteMessage({ ...at, messageId })
    await ask(sandbox, `POST /chats/${chatId}/typing`)
    await send(sandbox, chatId)
    await control.leave({ chatId: readableGroup, userId: bob.id })
  })
  const typing = { kind: 'typing', chatId, botId: bot.id }
  expect(events).toMatchObject([
    { kind: 'message', chatId, messageId: 1, fromId: alice.id, notice: null },
    { kind: 'queued', botId: bot.id, updateKind: 'message' },
    { kind: 'edited', chatId, messageId: 1, fromId: alice.id },
    { kind: 'deleted', chatId, messageId: 1 },
    { ...typing, typing: true },
    { ...typing, typing: false },
    { kind: 'message', chatId, messageId: 2, fromId: bot.id },
    { kind: 'message', chatId: readableGroup, fromId: bob.id, notice: 'left' },
  ])
  const first = events[0]?.id ?? 0
  expect(events.every(({ id }, index) => id > (events[index - 1]?.id ?? first - 1))).toBe(true)
})

test('keys, answers to presses, notices to the owner, clock moves and faults are recorded', async () => {
  const { sandbox, control, alice, bot, privateChat: chatId } = await homeScene()
  const kinds: EventKind[] = ['key', 'answer', 'notice', 'clock', 'fault']
  const events = await recorded(sandbox, kinds, async () => {
    const messageId = await sent(sandbox, chatId, { text: 'x', markup: BUTTON })
    const { callbackId } = await control.press({ userId: alice.id, chatId, messageId })
    const answer = { text: 'hi', alert: true }
    await ask(sandbox, `POST /callbacks/${callbackId}/answer`, { body: answer })
    await ask(sandbox, 'PUT /key', { body: A_KEY })
    await control.removeKey({ botId: bot.id })
    await control.advance({ ms: 7 })
    await control.fault({ name: 'error', route: 'getMe' })
    await ask(sandbox, 'GET /me')
    await control.revokeToken({ botId: bot.id })
  })
  expect(events).toMatchObject([
    { kind: 'answer', botId: bot.id, userId: alice.id, chatId, text: 'hi', alert: true, url: null },
    { kind: 'key', userId: bot.id, fingerprint: A_KEY.fingerprint },
    { kind: 'key', userId: bot.id, fingerprint: null },
    { kind: 'clock', at: sandbox.now() },
    { kind: 'fault', faultId: 1, name: 'error', route: 'getMe', botId: bot.id },
    { kind: 'notice', botId: bot.id, notice: 'token_revoked' },
  ])
})

test('a failed and a successful webhook delivery are recorded', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await still({ webhooks: 'local' })
  const { alice, bot, privateChat: chatId } = sandbox.home
  const { control } = sandbox
  receiver.answers.push(500)
  await ask(sandbox, 'POST /webhook', { body: { url: receiver.url } })
  const { last: after } = await control.events()
  const waiting = (kinds: EventKind[]) => control.events({ after, kinds, wait: 20_000 })
  await control.post({ userId: alice.id, chatId, text: 'x' })
  const [update] = await control.queued({ botId: bot.id })
  const of = { botId: bot.id, updateId: update?.updateId }
  expect((await waiting(['failed'])).events).toMatchObject([
    {
      kind: 'failed',
      ...of,
      error: 'the receiver answered 500',
      nextAttemptAt: sandbox.now() + 1000,
    },
  ])
  await control.advance({ ms: 1000 })
  expect((await waiting(['delivered'])).events).toMatchObject([{ kind: 'delivered', ...of }])
})

test('done and failed steps of the schedule are recorded', async () => {
  await using sandbox = await seeded({
    ...PAIR,
    schedule: [
      { at: '1s', pause: { botId: 'echo_bot' } },
      { at: '2s', press: { userId: 'alice', chatId: 'dm', messageId: 1 } },
    ],
  })
  await sandbox.control.advance({ ms: 5000 })
  const { events } = await sandbox.control.events({ kinds: ['step'] })
  expect(events).toMatchObject([
    { kind: 'step', action: 'pause', reason: null },
    { kind: 'step', action: 'press', reason: 'no message has the id 1' },
  ])
})

test('no event contains a text of a chat or a bot’s token', async () => {
  const { sandbox, alice, privateChat: chatId } = await homeScene()
  const events = await recorded(sandbox, ['call', 'message', 'queued'], async () => {
    await sandbox.control.post({ userId: alice.id, chatId, text: 'canary-words' })
    await send(sandbox, chatId, { text: 'canary-words' })
  })
  const text = JSON.stringify(events)
  expect(events.length).toBeGreaterThan(3)
  expect(text).not.toContain('canary-words')
  expect(text).not.toContain(sandbox.token)
})

test('the transcript of a world before a reset records no event in the new world', async () => {
  await using sandbox = await still()
  const { transcript } = sandbox
  await sandbox.reset()
  const { events, last: after } = await sandbox.control.events()
  expect(events.at(-1)).toMatchObject({ kind: 'restored', at: sandbox.now() })
  transcript.open({ at: 0, by: 'api', method: 'GET', path: '/', headers: [] })
  expect((await sandbox.control.events({ after })).events).toEqual([])
})

test('`sandbox.events` iterates over events from now on or after an id, until the sandbox closes', async () => {
  const { sandbox, control } = await homeScene()
  const { last } = await control.events()
  const following = sandbox.events()
  const next = following.next()
  await control.advance({ ms: 1 })
  expect((await next).value).toMatchObject({ id: last + 1, kind: 'clock' })
  for await (const event of sandbox.events(last)) {
    expect(event.id).toBe(last + 1)
    break
  }
  const end = following.next()
  await sandbox[Symbol.asyncDispose]()
  expect(await end).toMatchObject({ done: true })
})

test('src/sandbox/events/README.md describes every kind of event and of phone entry', () => {
  const page = readFileSync('src/sandbox/events/README.md', 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const described = rows.join('\n')
  expect(
    [...EVENT_KINDS, ...SEEN_KINDS].filter((kind) => !described.includes(`\`${kind}\``)),
  ).toEqual([])
})
