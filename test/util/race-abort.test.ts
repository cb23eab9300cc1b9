import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { deadline, raceAbort } from '../../src/util/race-abort.ts'

const never = new Promise<never>(() => {})

describe('work raced against a signal', () => {
  test('gives what it gives when nobody aborts', async () => {
    const { signal } = new AbortController()
    expect(await raceAbort(Promise.resolve(7), signal)).toBe(7)
    expect(await raceAbort(Promise.resolve(7), undefined)).toBe(7)
  })

  test('fails with its own failure when nobody aborts', async () => {
    const { signal } = new AbortController()
    const failing = () => Promise.reject(new Error('of its own'))
    await expect(raceAbort(failing(), signal)).rejects.toThrow('of its own')
    await expect(raceAbort(failing(), undefined)).rejects.toThrow('of its own')
  })

  test('fails with the reason as soon as somebody aborts', async () => {
    const controller = new AbortController()
    const raced = raceAbort(never, controller.signal)
    controller.abort(new Error('no longer wanted'))
    await expect(raced).rejects.toThrow('no longer wanted')
  })

  test('fails at once under a signal that was aborted before, even if it is done', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(raceAbort(never, signal)).rejects.toThrow('too late')
    await expect(raceAbort(Promise.resolve(7), signal)).rejects.toThrow('too late')
  })

  test('may fail after the abort unnoticed', async () => {
    const work = Promise.withResolvers<never>()
    const raced = raceAbort(work.promise, AbortSignal.abort(new Error('first')))
    await expect(raced).rejects.toThrow('first')
    // An unhandled rejection would fail the run.
    work.reject(new Error('later'))
    await nextTurn()
  })

  test.each([
    ['gives something', () => Promise.resolve()],
    ['fails', () => Promise.reject(new Error('of its own'))],
  ])('leaves no listener on the signal when it %s', async (_how, work) => {
    const { signal } = new AbortController()
    await raceAbort(work(), signal).catch(() => undefined)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('leaves no listener on the signal when that aborts', async () => {
    const controller = new AbortController()
    const raced = raceAbort(never, controller.signal).catch(() => undefined)
    controller.abort()
    await raced
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('a deadline', () => {
  test('aborts its signal when the time has passed', async () => {
    const time = Promise.withResolvers<void>()
    const late = deadline(() => time.promise)
    expect(late.signal.aborted).toBe(false)
    time.resolve()
    await nextTurn()
    expect(late.signal.aborted).toBe(true)
  })

  test('that is disposed before never aborts, and its wait ends', async () => {
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
