import { plain } from '../support/unseen.ts'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { AttemptOutcome } from '../../src/upstream/attempt.ts'
import type { Budget } from '../../src/upstream/budget.ts'
import { Caller, ifUnreached, never, type Call } from '../../src/upstream/caller.ts'
import { UPSTREAM_LIMITS } from '../../src/upstream/limits.ts'
import { failing, playedPool } from './support.ts'

useFakeTime({ toFake: ['performance', 'Date'], now: Date.UTC(2026, 0, 1) }, 1_000_000)

/** An answer, and what it takes by the clock of the test. */
interface Answer {
  status?: number
  json: object
  headers?: Record<string, string>
  ms?: number
}

const ok = (result: unknown = {}, more: Partial<Answer> = {}): Answer => ({
  json: { ok: true, result },
  ...more,
})
const no = (status: number, code: string): Answer => ({
  status,
  json: { ok: false, error: { status, code, message: 'no' } },
})
const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })

/** A caller whose pool answers as it is told, or never, and what it was asked. */
function scene(answers: (Answer | Error)[]) {
  const { pool, asked } = playedPool(() => {
    const answer = answers.shift()
    if (answer !== undefined && 'ms' in answer) vi.advanceTimersByTime(answer.ms ?? 0)
    return answer
  })
  const events = {
    answered: vi.fn(),
    unreachable: vi.fn(),
    unauthorized: vi.fn(),
    paused: vi.fn(),
    clock: vi.fn(),
    budget: vi.fn(),
  }
  const token = { now: 'first', reload: vi.fn(() => Promise.resolve(false)) }
  const budget = { count: vi.fn(), used: 3, limit: 7 }
  const stopping = new AbortController()
  const caller = new Caller({
    origin: 'https://service.example',
    basePath: '/base',
    token: { reveal: () => token.now, reload: token.reload },
    budget: budget as unknown as Budget,
    events,
    limits: { ...UPSTREAM_LIMITS, retryPauseMs: 1, maxBytes: 100, maxListBytes: 200 },
    stopping: stopping.signal,
  })
  const run = (more: Partial<Call> = {}) =>
    caller.run({
      pool,
      method: 'GET',
      path: '/me',
      body: undefined,
      untilMs: performance.now() + 10_000,
      firstUntilMs: performance.now() + 5000,
      signal: undefined,
      repeat: never,
      own: false,
      ...more,
    })
  return { run, asked, events, token, budget, stopping }
}

describe('`Caller`', () => {
  test('the `answered` event has the route pattern, the status and the duration', async () => {
    const { run, events } = scene([ok({}, { ms: 40 }), no(403, 'forbidden')])
    await run({ path: '/chats/5', own: true })
    await run({ path: '/no/such' })
    expect(events.answered.mock.calls).toEqual([
      [{ route: 'GET /chats/:chatId', status: 200, ms: 40, own: true }],
      [{ route: 'GET other', status: 403, code: 'forbidden', ms: 0, own: false }],
    ])
    const { unreachable, paused, unauthorized } = events
    expect([unreachable, paused, unauthorized].map(({ mock }) => mock.calls)).toEqual([[], [], []])
  })

  test('an answer `bot_paused` emits the `paused` event', async () => {
    const { run, events } = scene([no(403, 'bot_paused')])
    expect((await run()).status).toBe(403)
    expect(events.paused.mock.calls.length).toBe(1)
  })

  test('fields named `postern` are removed from answers to the bot and kept in the sidecar’s own answers', async () => {
    const result = { id: 1, postern: 'mine' }
    const { run } = scene([ok(result), ok(result), ok([{ Message: 1, message: 2 }])])
    expect(plain((await run({ own: true })).envelope)).toEqual({ ok: true, result })
    expect((await run()).body.toString()).toBe('{"ok":true,"result":{"id":1}}')
    const updates = await run({ path: '/updates' })
    expect(updates.body.toString()).toBe('{"ok":true,"result":[{"message":2}]}')
  })
})

describe('a call without an answer', () => {
  test('a repeated call counts again in the budget when it is the sidecar’s own', async () => {
    const { run, asked, budget, events } = scene([reset, ok(), reset, ok()])
    expect((await run({ repeat: ifUnreached, own: true })).status).toBe(200)
    expect([asked.length, budget.count.mock.calls.length]).toEqual([2, 1])
    await run({ repeat: ifUnreached })
    expect([asked.length, budget.count.mock.calls.length]).toEqual([4, 1])
    expect(events.unreachable).not.toHaveBeenCalled()
  })

  test('a call is not repeated when no time is left for the repetition', async () => {
    for (const [leftMs, times] of [
      [1, 1],
      [2, 2],
    ] as const) {
      const { run, asked } = scene([reset, ok()])
      const untilMs = performance.now() + leftMs
      await run({ repeat: ifUnreached, untilMs }).catch(() => undefined)
      expect(asked.length).toBe(times)
    }
  })

  test('a call is not repeated after its caller leaves or the sidecar stops', async () => {
    for (const who of ['caller', 'sidecar'] as const) {
      const leaving = new AbortController()
      const { run, asked, stopping, events } = scene([reset, ok()])
      const end = who === 'caller' ? leaving : stopping
      const repeat = (outcome: AttemptOutcome): boolean => {
        queueMicrotask(() => end.abort())
        return outcome.kind === 'unreached'
      }
      const error = await failing(run({ repeat, signal: leaving.signal }))
      expect([error.code, asked.length]).toEqual(['postern_upstream_unreachable', 1])
      expect(events.unreachable).toHaveBeenCalledTimes(1)
    }
  })
})

describe('a token that the service refuses', () => {
  const refused = no(401, 'unauthorized')

  test('a call repeated with the reloaded token counts in the budget and emits no `unauthorized` event', async () => {
    const { run, asked, token, events, budget } = scene([refused, ok()])
    token.reload.mockImplementation(() => {
      token.now = 'second'
      return Promise.resolve(true)
    })
    expect((await run({ own: true })).status).toBe(200)
    const tokens = asked.map(({ headers }) => (headers as Record<string, string>)['authorization'])
    expect(tokens).toEqual(['Bearer first', 'Bearer second'])
    expect([events.unauthorized.mock.calls, budget.count.mock.calls.length]).toEqual([[], 1])
  })

  test('the token is not reloaded after an error other than 401', async () => {
    const { run, token } = scene([no(403, 'forbidden')])
    await run()
    expect(token.reload).not.toHaveBeenCalled()
  })
})
