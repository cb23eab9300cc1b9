import { plain } from '../support/unseen.ts'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { NoResponseError, Refusal } from '../../src/errors.ts'
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

describe('a call', () => {
  test('is made below the prefix of the API, with the token of the time', async () => {
    const { run, asked, token } = scene([ok(), ok()])
    await run({ method: 'PUT', path: '/key', body: '{}' })
    token.now = 'second'
    await run()
    expect(asked).toMatchObject([
      { origin: 'https://service.example', method: 'PUT', path: '/base/bot/v1/key', body: '{}' },
      { method: 'GET', path: '/base/bot/v1/me', body: null },
    ])
    const [put, get] = asked.map(({ headers }) => headers as Record<string, string>)
    expect([put?.['authorization'], get?.['authorization']]).toEqual([
      'Bearer first',
      'Bearer second',
    ])
    expect([put?.['content-type'], get?.['content-type']]).toEqual(['application/json', undefined])
  })

  test('that the service answers is told with its pattern and its time', async () => {
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

  test('that a paused bot makes says so', async () => {
    const { run, events } = scene([no(403, 'bot_paused')])
    expect((await run()).status).toBe(403)
    expect(events.paused.mock.calls.length).toBe(1)
  })

  test('tells of the clock where the answer is dated', async () => {
    const date = new Date(Date.now() - 60_000).toUTCString()
    const { run, events } = scene([ok({}, { headers: { date } }), ok()])
    await run()
    await run()
    expect(events.clock.mock.calls).toEqual([[59_000]])
  })

  test('of the sidecar’s own tells of its budget, and one of the bot’s does not', async () => {
    const { run, events, budget } = scene([ok(), ok()])
    await run()
    expect(events.budget).not.toHaveBeenCalled()
    await run({ own: true })
    expect(events.budget.mock.calls).toEqual([[{ usedLastMinute: 3, limit: 7 }]])
    expect(budget.count).not.toHaveBeenCalled()
  })

  test.each([
    ['/me', 'GET', false],
    ['/chats/5', 'GET', false],
    ['/chats/5/keys', 'GET', true],
    ['/updates?timeout=0', 'GET', true],
    ['/updates', 'POST', false],
  ] as const)('of %s by %s may be answered at length: %s', async (path, method, isList) => {
    for (const [letters, is] of [
      [60, true],
      [120, isList],
      [250, false],
    ] as const) {
      const { run } = scene([ok('x'.repeat(letters))])
      const outcome = await run({ path, method }).catch((error: unknown) => error)
      expect(outcome instanceof NoResponseError).toBe(!is)
    }
  })

  test('of the sidecar’s own keeps what no bot reads, of the bot’s it is taken out', async () => {
    const result = { id: 1, postern: 'mine' }
    const { run } = scene([ok(result), ok(result), ok([{ Message: 1, message: 2 }])])
    expect(plain((await run({ own: true })).envelope)).toEqual({ ok: true, result })
    expect((await run()).body.toString()).toBe('{"ok":true,"result":{"id":1}}')
    const updates = await run({ path: '/updates' })
    expect(updates.body.toString()).toBe('{"ok":true,"result":[{"message":2}]}')
  })
})

describe('a call that nobody answers', () => {
  test('fails, and says so', async () => {
    const { run, events } = scene([reset])
    const error = await failing(run())
    expect(error.code).toBe('postern_upstream_unreachable')
    expect(events.unreachable.mock.calls).toEqual([[error]])
    expect(events.answered).not.toHaveBeenCalled()
  })

  test('is made once more where that is allowed, and counts again as one of the sidecar’s own', async () => {
    const { run, asked, budget, events } = scene([reset, ok(), reset, ok()])
    expect((await run({ repeat: ifUnreached, own: true })).status).toBe(200)
    expect([asked.length, budget.count.mock.calls.length]).toEqual([2, 1])
    await run({ repeat: ifUnreached })
    expect([asked.length, budget.count.mock.calls.length]).toEqual([4, 1])
    expect(events.unreachable).not.toHaveBeenCalled()
  })

  test('is made no third time', async () => {
    const { run, asked } = scene([reset, reset, ok()])
    await failing(run({ repeat: ifUnreached }))
    expect(asked.length).toBe(2)
  })

  test('is not made once more where no time is left for it', async () => {
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

  test('is not made once more for one who leaves, or when all ends', async () => {
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

  test('fails when its first attempt has had its time', async () => {
    const { run, asked } = scene([])
    const error = await failing(run({ firstUntilMs: performance.now() + 20 }))
    expect([error.code, asked.length]).toEqual(['postern_upstream_timeout', 1])
  })

  test('because it was given up is nobody’s failure', async () => {
    const { run, events, asked } = scene([])
    const error = await failing(run({ signal: AbortSignal.abort() }))
    expect([error.code, asked, events.unreachable.mock.calls]).toEqual([
      'postern_upstream_timeout',
      [],
      [],
    ])
  })
})

describe('a token that the service refuses', () => {
  const refused = no(401, 'unauthorized')

  test('is read again, and the call made once more with another one', async () => {
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

  test('that is refused again is told, and so is one that is no other', async () => {
    const both = scene([refused, refused])
    both.token.reload.mockImplementation(() => {
      both.token.now = 'second'
      return Promise.resolve(true)
    })
    expect((await both.run()).status).toBe(401)
    expect([both.asked.length, both.events.unauthorized.mock.calls.length]).toEqual([2, 1])
    const same = scene([refused, ok()])
    expect((await same.run()).status).toBe(401)
    expect([same.asked.length, same.token.reload.mock.calls.length]).toEqual([1, 1])
    expect(same.events.unauthorized).toHaveBeenCalledTimes(1)
  })

  test('that cannot be read again stands', async () => {
    const { run, asked, token } = scene([refused, ok()])
    token.reload.mockRejectedValue(new Error('gone'))
    expect([(await run()).status, asked.length]).toEqual([401, 1])
  })

  test('is not read again for any other refusal', async () => {
    const { run, token } = scene([no(403, 'forbidden')])
    await run()
    expect(token.reload).not.toHaveBeenCalled()
  })
})

test('what is not permitted any more is not tried, and the permission is asked each time', async () => {
  const { run, asked } = scene([reset, ok()])
  const permitted = vi.fn(async () => {
    await Promise.resolve()
    if (permitted.mock.calls.length > 1) throw new Refusal('postern_downgrade_refused')
  })
  const error = await failing(run({ repeat: ifUnreached, permitted }))
  expect([error.code, asked.length]).toEqual(['postern_downgrade_refused', 1])
})
