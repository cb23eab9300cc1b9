import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { deadline, raceAbort } from '../../src/util/race-abort.ts'

describe('`raceAbort`', () => {
  test('a rejection after the abort is not reported as unhandled', async () => {
    const work = Promise.withResolvers<never>()
    const raced = raceAbort(work.promise, AbortSignal.abort(new Error('first')))
    await expect(raced).rejects.toThrow('first')
    // An unhandled rejection would fail the run.
    work.reject(new Error('later'))
    await nextTurn()
  })

  test.each([
    ['succeeds', () => Promise.resolve()],
    ['fails', () => Promise.reject(new Error('of its own'))],
  ])('`raceAbort` removes its abort listener when the work %s', async (_how, work) => {
    const { signal } = new AbortController()
    await raceAbort(work(), signal).catch(() => undefined)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('`deadline`', () => {
  test('a `deadline` aborts its signal when the time has passed', async () => {
    const time = Promise.withResolvers<void>()
    const late = deadline(() => time.promise)
    expect(late.signal.aborted).toBe(false)
    time.resolve()
    await nextTurn()
    expect(late.signal.aborted).toBe(true)
  })

  test('a disposed `deadline` never aborts, and its wait ends', async () => {
    let waited: AbortSignal | null = null
    const wait = (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        waited = signal
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    const late = deadline(wait)
    late[Symbol.dispose]()
    await nextTurn()
    expect(waited).toMatchObject({ aborted: true })
    expect(late.signal.aborted).toBe(false)
  })
})
