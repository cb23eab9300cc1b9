import type { Dispatcher } from 'undici'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { exchange, type Exchange } from '../../src/upstream/exchange.ts'

useFakeTime({ now: 5000 })

type Handler = Required<Dispatcher.DispatchHandler>

/** An exchange with a pool that a test plays, from the start of the request on. */
function begin(more: Partial<Exchange> = {}) {
  const abort = vi.fn((_reason: Error) => undefined)
  const controller = { abort } as unknown as Dispatcher.DispatchController
  const dispatch = vi.fn((_options: object, _handler: Handler) => true)
  const outcome = vi.fn((_outcome: object) => undefined)
  const sent: Exchange = {
    options: { method: 'GET', path: '/me' },
    maxBytes: 10,
    timeoutMs: 1000,
    signal: undefined,
    stopping: new AbortController().signal,
    ...more,
  }
  const ending = exchange({ dispatch } as unknown as Dispatcher, sent).then(outcome)
  const handler = (): Handler => {
    const [, given] = dispatch.mock.calls[0] ?? []
    if (given === undefined) throw new Error('nothing was dispatched')
    return given
  }
  const start = (): void => handler().onRequestStart(controller, undefined)
  const answer = (status = 200, headers: Record<string, string> = {}): void =>
    handler().onResponseStart(controller, status, headers)
  const data = (text: string): void => handler().onResponseData(controller, Buffer.from(text))
  const end = (): void => handler().onResponseEnd(controller, {})
  const fail = (error: Error): void => handler().onResponseError(controller, error)
  /** What came of it; null while nothing did. */
  const came = async (): Promise<object | null> => {
    await vi.advanceTimersByTimeAsync(0)
    return outcome.mock.calls[0]?.[0] ?? null
  }
  return { dispatch, abort, start, answer, data, end, fail, came, ending, outcome, sent }
}

describe('an exchange', () => {
  test('gives the whole answer, and when its headers came', async () => {
    const askedAtMs = performance.now()
    const { dispatch, start, answer, data, end, came, abort, sent } = begin()
    expect(dispatch.mock.calls[0]?.[0]).toBe(sent.options)
    start()
    vi.advanceTimersByTime(40)
    answer(201, { sunset: 'b' })
    vi.advanceTimersByTime(40)
    data('one,')
    data('two')
    expect(await came()).toBeNull()
    end()
    expect(await came()).toEqual({
      statusCode: 201,
      headers: { sunset: 'b' },
      body: Buffer.from('one,two'),
      gotAtMs: askedAtMs + 40,
    })
    expect([abort.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('passes over what comes before the answer', async () => {
    const { start, answer, data, end, came } = begin()
    start()
    for (const status of [100, 103, 199]) answer(status, { location: '/' })
    end()
    expect(await came()).toBeNull()
    answer(200)
    data('{}')
    end()
    expect(await came()).toMatchObject({ statusCode: 200, body: Buffer.from('{}') })
  })

  test('reads as much as is allowed, and one byte more is an answer of no use', async () => {
    const fits = begin()
    fits.start()
    fits.answer()
    fits.data('x'.repeat(10))
    fits.end()
    expect(await fits.came()).toMatchObject({ body: Buffer.alloc(10, 'x') })
    const large = begin()
    large.start()
    large.answer(404)
    large.data('x'.repeat(10))
    large.data('x')
    expect(await large.came()).toMatchObject({ kind: 'unusable', status: 404 })
    expect(large.abort).toHaveBeenCalledTimes(1)
    large.data('x')
    large.end()
    expect(large.outcome).toHaveBeenCalledTimes(1)
  })

  test('whose answer is of no use ends before its body', async () => {
    const { start, answer, data, came, abort } = begin()
    start()
    answer(302)
    expect(await came()).toMatchObject({ kind: 'unusable', status: 302 })
    expect(abort).toHaveBeenCalledTimes(1)
    data('x')
  })

  test('that takes too long is ended, and the next to come of it is dropped', async () => {
    const { start, answer, data, end, came, abort, outcome } = begin()
    start()
    answer()
    vi.advanceTimersByTime(999)
    expect(await came()).toBeNull()
    vi.advanceTimersByTime(1)
    expect(await came()).toMatchObject({ kind: 'late' })
    expect(abort).toHaveBeenCalledTimes(1)
    data('x')
    end()
    expect(outcome).toHaveBeenCalledTimes(1)
  })

  test('that ends while it waits for a connection is dropped when it gets one', async () => {
    const { start, came, abort } = begin()
    vi.advanceTimersByTime(1000)
    expect(await came()).toMatchObject({ kind: 'late' })
    expect(abort).not.toHaveBeenCalled()
    start()
    expect(abort).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['before', 'unreached'],
    ['within', 'cut'],
  ])('whose connection ends %s an answer says so', async (stage, kind) => {
    const { start, answer, fail, came, abort } = begin()
    start()
    if (stage === 'within') answer()
    fail(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    expect(await came()).toMatchObject({ kind })
    expect([abort.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
  })

  test('that cannot begin never reached anybody', async () => {
    const { dispatch } = begin()
    dispatch.mockClear()
    const failing = exchange(
      {
        dispatch: () => {
          throw Object.assign(new Error('closed'), { code: 'UND_ERR_DESTROYED' })
        },
      } as unknown as Dispatcher,
      begin().sent,
    )
    expect(await failing).toMatchObject({ kind: 'unreached' })
  })
})

describe('an exchange that somebody gives up', () => {
  test('ends at once, and listens no longer', async () => {
    const leaving = new AbortController()
    const removed = vi.spyOn(leaving.signal, 'removeEventListener')
    const { start, came, abort } = begin({ signal: leaving.signal })
    start()
    expect(await came()).toBeNull()
    leaving.abort()
    expect(await came()).toMatchObject({ kind: 'given-up' })
    expect([abort.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1])
  })

  test('and one that ended well listens no longer either', async () => {
    const staying = new AbortController()
    const added = vi.spyOn(staying.signal, 'addEventListener')
    const removed = vi.spyOn(staying.signal, 'removeEventListener')
    const { start, answer, end, came } = begin({ signal: staying.signal })
    start()
    answer()
    end()
    expect(await came()).toMatchObject({ statusCode: 200 })
    expect(removed.mock.calls[0]?.slice(0, 2)).toEqual(added.mock.calls[0]?.slice(0, 2))
  })

  test('before it began is never begun', async () => {
    for (const more of [{ signal: AbortSignal.abort() }, { stopping: AbortSignal.abort() }]) {
      const { dispatch, came } = begin(more)
      expect(await came()).toMatchObject({ kind: 'given-up' })
      expect([dispatch.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
    }
  })

  test('as the sidecar stops is not called unreachable', async () => {
    const stopping = new AbortController()
    const { start, fail, came } = begin({ stopping: stopping.signal })
    start()
    stopping.abort()
    expect(await came(), 'the end of the pool ends it').toBeNull()
    fail(new Error('destroyed'))
    expect(await came()).toMatchObject({ kind: 'given-up' })
  })
})
