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

describe('`exchange`', () => {
  test('an exchange resolves with the whole answer and the time of its headers', async () => {
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

  test('an exchange ignores 1xx responses before the answer', async () => {
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
})

describe('an exchange that is aborted', () => {
  test('an aborted exchange ends at once and removes its abort listener', async () => {
    const leaving = new AbortController()
    const removed = vi.spyOn(leaving.signal, 'removeEventListener')
    const { start, came, abort } = begin({ signal: leaving.signal })
    start()
    expect(await came()).toBeNull()
    leaving.abort()
    expect(await came()).toMatchObject({ kind: 'given-up' })
    expect([abort.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1])
  })

  test('a completed exchange removes its abort listener', async () => {
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

  test('an exchange whose signal was aborted before is not dispatched', async () => {
    for (const more of [{ signal: AbortSignal.abort() }, { stopping: AbortSignal.abort() }]) {
      const { dispatch, came } = begin(more)
      expect(await came()).toMatchObject({ kind: 'given-up' })
      expect([dispatch.mock.calls, vi.getTimerCount()]).toEqual([[], 0])
    }
  })

  test('an exchange that the stopping sidecar cuts is given up, not unreachable', async () => {
    const stopping = new AbortController()
    const { start, fail, came } = begin({ stopping: stopping.signal })
    start()
    stopping.abort()
    expect(await came(), 'the end of the pool ends it').toBeNull()
    fail(new Error('destroyed'))
    expect(await came()).toMatchObject({ kind: 'given-up' })
  })
})
