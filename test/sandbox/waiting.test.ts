import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { HostedWorld } from '../../src/sandbox/hosted-world.ts'
import { still as seeded, PAIR } from './seeded.ts'
import { ask, homeScene, still } from './support.ts'

const WAIT_MS = 20_000

/** Whether it is still waiting once everything else that is due was done. */
async function isWaiting(call: Promise<unknown>): Promise<boolean> {
  const over = vi.fn()
  void call.then(over, over)
  await pause(30)
  return over.mock.calls.length === 0
}

/** Operations that wait, and what ends the wait with one entry. */
const WAITS: Record<
  string,
  [(sandbox: Sandbox) => Promise<object[]>, (sandbox: Sandbox) => Promise<object>]
> = {
  queued: [
    ({ control, home }) => control.queued({ botId: home.bot.id, wait: WAIT_MS }),
    (sandbox) => post(sandbox, 'one'),
  ],
  messages: [
    ({ control, home }) => control.messages({ chatId: home.privateChat, wait: WAIT_MS }),
    (sandbox) => post(sandbox, 'one'),
  ],
  notices: [
    ({ control, home }) => control.notices({ botId: home.bot.id, wait: WAIT_MS }),
    ({ control, home }) => control.revokeToken({ botId: home.bot.id }),
  ],
  inbox: [
    async ({ control, home }) =>
      (await control.inbox({ userId: home.alice.id, wait: WAIT_MS })).seen,
    ({ control, home }) =>
      control.post({ userId: home.bob.id, chatId: home.readableGroup, text: 'x' }),
  ],
  transcript: [
    ({ control }) => control.transcript({ wait: WAIT_MS }),
    (sandbox) => ask(sandbox, 'GET /me'),
  ],
}

const post = ({ control, home }: Sandbox, text: string) =>
  control.post({ userId: home.alice.id, chatId: home.privateChat, text })

test.each(Object.keys(WAITS))(
  '`%s` waits until there is an entry, on a stopped clock',
  async (name) => {
    await using sandbox = await still()
    const [wait, end] = WAITS[name] ?? []
    const waiting = wait?.(sandbox) ?? Promise.resolve([])
    expect(await isWaiting(waiting)).toBe(true)
    await end?.(sandbox)
    expect(await waiting).toHaveLength(1)
  },
)

test('a wait after an update over HTTP ends with the next update', async () => {
  const { sandbox, bot } = await homeScene()
  const control = createControlClient(sandbox.controlUrl)
  await post(sandbox, 'one')
  const [update] = await control.queued({ botId: bot.id })
  const next = control.queued({ botId: bot.id, after: update?.updateId ?? 0, wait: WAIT_MS })
  expect(await isWaiting(next)).toBe(true)
  await post(sandbox, 'two')
  expect(await next).toMatchObject([{ message: { text: 'two' } }])
})

test('a wait returns existing entries at once, and an empty list after its time', async () => {
  const { control, alice, bot, privateChat: chatId } = await homeScene()
  const { messageId } = await control.post({ userId: alice.id, chatId, text: 'one' })
  expect(await control.messages({ chatId, wait: WAIT_MS })).toHaveLength(1)
  expect(await control.messages({ chatId, after: messageId, wait: 5 })).toEqual([])
  expect(await control.notices({ botId: bot.id, wait: 0 })).toEqual([])
})

test('a wait for messages of a chat does not end with a message of another chat', async () => {
  const { control, home } = await homeScene()
  const waiting = control.messages({ chatId: home.readableGroup, wait: WAIT_MS })
  await control.post({ userId: home.alice.id, chatId: home.privateChat, text: 'elsewhere' })
  expect(await isWaiting(waiting)).toBe(true)
  await control.post({ userId: home.bob.id, chatId: home.readableGroup, text: 'here' })
  expect(await waiting).toMatchObject([{ text: 'here' }])
})

test('a wait for the transcript ends with a call that is answered', async () => {
  const { sandbox, control } = await homeScene()
  const poll = new AbortController()
  const waiting = control.transcript({ wait: WAIT_MS })
  const held = ask(sandbox, 'GET /updates?timeout=50', { signal: poll.signal }).catch(() => null)
  expect(await isWaiting(waiting)).toBe(true)
  await ask(sandbox, 'GET /me')
  expect(await waiting).toMatchObject([
    { n: 1, path: '/bot/v1/updates?timeout=50', status: 0 },
    { n: 2, path: '/bot/v1/me', status: 200 },
  ])
  poll.abort()
  await held
})

test('a wait after an entry of before a restore returns the last restored entry', async () => {
  const { control, alice, bob, readableGroup: chatId } = await homeScene()
  await control.inbox({ userId: bob.id })
  await control.snapshot({ name: 'before' })
  await control.post({ userId: alice.id, chatId, text: 'one' })
  const { last } = await control.inbox({ userId: bob.id, wait: WAIT_MS })
  await control.restore({ name: 'before' })
  const put = await control.inbox({ userId: bob.id, after: last, wait: WAIT_MS })
  expect(put).toMatchObject({ seen: [], last: last - 1 })
  const next = control.inbox({ userId: bob.id, after: put.last, wait: WAIT_MS })
  expect(await isWaiting(next)).toBe(true)
  await control.post({ userId: alice.id, chatId, text: 'two' })
  expect((await next).inbox).toMatchObject([{ text: 'two' }])
})

test('a wait for a cleared transcript ends with the next call', async () => {
  const { sandbox, control } = await homeScene()
  await ask(sandbox, 'GET /me')
  await control.clearTranscript()
  const waiting = control.transcript({ wait: WAIT_MS })
  expect(await isWaiting(waiting)).toBe(true)
  await ask(sandbox, 'GET /webhook')
  expect(await waiting).toMatchObject([{ n: 2, path: '/bot/v1/webhook' }])
})

test('a wait for the schedule ends with the next failure, or with the last step', async () => {
  const step = (at: string) => ({ at, press: { userId: 'alice', chatId: 'dm', messageId: 1 } })
  await using sandbox = await seeded({
    ...PAIR,
    schedule: [step('1s'), { at: '2s', pause: { botId: 'echo_bot' } }],
  })
  const { control } = sandbox
  const failure = control.schedule({ wait: WAIT_MS })
  expect(await isWaiting(failure)).toBe(true)
  await control.advance({ ms: 1000 })
  expect(await failure).toMatchObject({ left: 1, errors: [{ n: 1, action: 'press' }] })
  const end = control.schedule({ after: 1, wait: WAIT_MS })
  expect(await isWaiting(end)).toBe(true)
  await control.advance({ ms: 1000 })
  expect(await end).toEqual({ left: 0, errors: [] })
})

test('a closing sandbox ends every wait', async () => {
  const sandbox = await still()
  const { bot } = sandbox.home
  const inProcess = sandbox.control.queued({ botId: bot.id, wait: WAIT_MS })
  const remote = createControlClient(sandbox.controlUrl).events({ after: 1e9, wait: WAIT_MS })
  expect(await isWaiting(remote)).toBe(true)
  await sandbox[Symbol.asyncDispose]()
  expect(await inProcess).toEqual([])
  await remote.catch(() => null)
})

test('a wait ends when its HTTP caller aborts, and unsubscribes from the world', async () => {
  const making = vi.spyOn(HostedWorld.prototype, 'begin')
  onTestFinished(() => making.mockRestore())
  await using sandbox = await still()
  const [hosted] = making.mock.contexts
  const left = vi.fn()
  const subscribed = vi.spyOn((hosted as HostedWorld).world, 'onEvent').mockReturnValue(left)
  const caller = new AbortController()
  const waiting = fetch(`${sandbox.controlUrl}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // Longer than the test has.
    body: JSON.stringify({ chatId: sandbox.home.privateChat, wait: 60_000 }),
    signal: caller.signal,
  })
  await expect.poll(() => subscribed.mock.calls.length).toBe(1)
  expect(left).not.toHaveBeenCalled()
  caller.abort()
  await expect(waiting).rejects.toThrow('abort')
  await expect.poll(() => left.mock.calls.length).toBe(1)
})

test('`wait` beyond a minute, negative or fractional is refused, and a negative `after` too', async () => {
  await using sandbox = await still()
  const control = createControlClient(sandbox.controlUrl)
  const botId = sandbox.home.bot.id
  for (const wait of [60_001, -1, 0.5]) {
    await expect(control.queued({ botId, wait })).rejects.toThrow('wait')
  }
  await expect(control.queued({ botId, after: -1 })).rejects.toThrow('after')
})
