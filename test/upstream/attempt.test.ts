import { plain } from '../support/unseen.ts'
import { PassThrough, Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { describe, expect, test, vi } from 'vitest'
import { playedPool } from './support.ts'
import { attempt, readAnswer, readBody, type WireRequest } from '../../src/upstream/attempt.ts'

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const read = (body: Buffer, kind: WireRequest['answer'] = 'other', headers = {}) =>
  readAnswer({ statusCode: 200, headers }, body, kind)

describe('an answer', () => {
  const okay = { ok: true, result: { id: 1 } }

  test('in the envelope is given as it came, with the headers that may be handed on', async () => {
    const body = Buffer.from('{ "ok": true, "result": {"id": 1} }')
    const headers = {
      date: 'today',
      sunset: 'b',
      'content-type': 'application/json; charset=utf-7',
    }
    const answer = await read(body, 'other', headers)
    expect({ ...answer, envelope: answer && plain(answer.envelope) }).toEqual({
      status: 200,
      headers: { sunset: 'b', 'content-type': 'application/json; charset=utf-8' },
      body,
      envelope: okay,
    })
  })

  test.each([
    ['bytes that are no UTF-8', Buffer.from('{"ok":true,"result":"\xff"}', 'latin1')],
    ['no JSON', Buffer.from('{"ok":true,"result":')],
    ['another status', json({ ok: false, error: { status: 403, code: 'x', message: '' } })],
    ['no envelope', json([1])],
    ['nothing', Buffer.alloc(0)],
  ])('of %s is none', async (_what, body) => {
    for (const kind of ['other', 'updates', 'own'] as const)
      expect(await read(body, kind)).toBeNull()
  })

  test('that another parser reads otherwise is written anew, as much of it as a bot reads', async () => {
    const message = { text: 'a', Text: 'b' }
    const body = json({ ok: true, result: [message], OK: false })
    const written = async (kind: WireRequest['answer']) => (await read(body, kind))?.body.toString()
    expect(await written('updates')).toBe('{"ok":true,"result":[{"text":"a"}]}')
    expect(await written('other')).toBe('{"ok":true,"result":[{"text":"a","Text":"b"}]}')
    expect(await written('own'), 'no bot reads it').toBe(body.toString())
  })

  test('that refuses is written anew for us too', async () => {
    const error = { status: 403, code: 'forbidden', message: 'no' }
    const body = json({ ok: false, error: { ...error, Code: 'x' } })
    const refusal = await readAnswer({ statusCode: 403, headers: {} }, body, 'own')
    expect(refusal?.body.toString()).toBe(JSON.stringify({ ok: false, error }))
  })
})

describe('the body of an answer', () => {
  const answerOf = (body: Readable, more: object = {}): Dispatcher.ResponseData =>
    ({ statusCode: 200, headers: {}, body, ...more }) as unknown as Dispatcher.ResponseData

  test('is read whole', async () => {
    const body = Readable.from([Buffer.from('ab'), Buffer.from('cd')])
    expect(await readBody(answerOf(body), 4)).toEqual(Buffer.from('abcd'))
    expect(await readBody(answerOf(Readable.from([])), 4)).toEqual(Buffer.alloc(0))
  })

  test('in more pieces than any service sends is given up, however small it is', async () => {
    const crumbs = Array.from({ length: 100_000 }, () => Buffer.from(' '))
    const outcome = await readBody(answerOf(Readable.from(crumbs)), 2 ** 20)
    const error = { message: expect.stringContaining('an answer in crumbs') as string }
    expect(outcome).toMatchObject({ kind: 'unusable', error })
  })

  test('that is too large is read no further', async () => {
    const body = new PassThrough()
    const reading = readBody(answerOf(body, { statusCode: 404 }), 4)
    body.write('abcde')
    expect(await reading).toMatchObject({ kind: 'unusable', status: 404 })
    expect([body.destroyed, body.listenerCount('data')]).toEqual([true, 0])
  })

  test('that fails, or ends before its end, fails', async () => {
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

describe('an attempt', () => {
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

  test('that is answered outside the envelope is of no use, whatever its status', async () => {
    const outcome = await attempt(pool, request)
    expect(outcome).toMatchObject({ kind: 'unusable', status: 200 })
    expect(outcome).toHaveProperty('error.message', expect.stringContaining('no envelope'))
  })

  test('says what it carries only where it does', async () => {
    await attempt(pool, request)
    await attempt(pool, { ...request, method: 'POST', body: '{}' })
    const types = dispatch.mock.calls
      .slice(-2)
      .map(([options]) => (options as { headers: Record<string, string> }).headers['content-type'])
    expect(types).toEqual([undefined, 'application/json'])
  })

  test.each([
    [20_000, 30, 'unusable'],
    [30, 20_000, 'late'],
  ])('has %d ms where the answer takes %d: %s', async (timeoutMs, answerMs, kind) => {
    const slow = {
      dispatch: (...given: Parameters<Dispatcher['dispatch']>) => {
        setTimeout(() => pool.dispatch(...given), answerMs).unref()
        return true
      },
    } as unknown as Dispatcher
    expect((await attempt(slow, { ...request, timeoutMs })).kind).toBe(kind)
  })

  test('is timed by us alone', async () => {
    await attempt(pool, request)
    expect(dispatch.mock.lastCall?.[0]).toMatchObject({ headersTimeout: 0, body: null })
  })

  test.each([-5, 0, 0.2])('that has %d ms left ends at once', async (timeoutMs) => {
    const silent = { dispatch: () => true } as unknown as Dispatcher
    expect(await attempt(silent, { ...request, timeoutMs })).toMatchObject({ kind: 'late' })
  })

  test('says how far our clock is off only where the answer is dated', async () => {
    for (const [headers, skewMs] of [
      [{}, null],
      [{ date: new Date(Date.now() + 3_600_000).toUTCString() }, expect.any(Number) as number],
    ] as const) {
      expect(await attempt(answering(headers), request)).toMatchObject({ kind: 'answered', skewMs })
    }
  })

  test.each([3_600_000, -3_600_000])(
    'takes our clock as it is set when the answer is there: %i ms later than when it was asked',
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
