import { PassThrough } from 'node:stream'
import type { Dispatcher } from 'undici'
import { describe, expect, test, vi } from 'vitest'
import { playedPool } from './support.ts'
import { attempt, readBody, type WireRequest } from '../../src/upstream/attempt.ts'

describe('`readBody`', () => {
  const answerOf = (body: Readable, more: object = {}): Dispatcher.ResponseData =>
    ({ statusCode: 200, headers: {}, body, ...more }) as unknown as Dispatcher.ResponseData

  test('`readBody` rejects when the body fails or closes before its end', async () => {
    const failing = new PassThrough()
    const reading = readBody(answerOf(failing), 4)
    failing.destroy(new Error('reset'))
    await expect(reading).rejects.toThrow('reset')
    const closing = new PassThrough()
    const other = readBody(answerOf(closing), 4)
    closing.destroy()
    await expect(other).rejects.toThrow('closed before its end')
  })
})

describe('`attempt`', () => {
  const { pool, dispatch } = playedPool(() => ({ json: { no: 'envelope' } }))
  const request: WireRequest = {
    origin: 'https://service.example',
    method: 'GET',
    path: '/bot/v1/me',
    body: undefined,
    token: 'token',
    answer: 'other',
    maxBytes: 100,
    timeoutMs: 1000,
    signal: undefined,
    stopping: new AbortController().signal,
  }

  test('`attempt` disables the header timeout of undici', async () => {
    await attempt(pool, request)
    expect(dispatch.mock.lastCall?.[0]).toMatchObject({ headersTimeout: 0, body: null })
  })

  test.each([-5, 0, 0.2])('an attempt with %d ms left ends at once as late', async (timeoutMs) => {
    const silent = { dispatch: () => true } as unknown as Dispatcher
    expect(await attempt(silent, { ...request, timeoutMs })).toMatchObject({ kind: 'late' })
  })

  test.each([3_600_000, -3_600_000])(
    'clock skew follows a wall clock that is set %i ms ahead during the request',
    async (setByMs) => {
      const nowMs = Date.now()
      const one = answering({ date: new Date(nowMs).toUTCString() }, () =>
        vi.setSystemTime(nowMs + setByMs),
      )
      vi.useFakeTimers({ now: nowMs, toFake: ['Date'] })
      const outcome = await attempt(one, request).finally(() => vi.useRealTimers())
      const skewMs = 'skewMs' in outcome ? (outcome.skewMs ?? 0) : 0
      expect(Math.abs(skewMs - setByMs)).toBeLessThan(30_000)
    },
  )
})

/** A pool that answers well. @param first what happens before it does */
const answering = (headers: Record<string, string>, first = (): unknown => null): Dispatcher =>
  playedPool(() => (first(), { headers, json: { ok: true, result: 1 } })).pool
