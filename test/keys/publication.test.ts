import { describe, expect, test, vi } from 'vitest'
import type { Bot } from '../../src/api/bot.ts'
import { NoResponseError } from '../../src/errors.ts'
import { NEW, OLD, publishing, started, useLookTimes } from './publication-scene.ts'
import { serviceError } from './support.ts'

useLookTimes()

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const SETTLED = { keys: [OLD], shown: 'old' }
const shows = (fingerprint: string): Bot => ({ fingerprint }) as Bot

describe('comparisons with `/me`', () => {
  test('a publication reads `/me` at its start, and again every ten minutes', async () => {
    const { publication, asked, changes } = await started(SETTLED)
    const shown = { state: 'published', detail: 'the key is published' }
    expect([asked(), changes]).toEqual([1, [shown]])
    expect([publication.state, publication.remoteKeyState]).toEqual(['published', 'equal'])
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS - 1)
    expect(asked()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect([asked(), changes]).toEqual([2, [shown, shown]])
    expect(vi.getTimerCount()).toBe(1)
  })

  test('the interval of comparisons is spread by up to a fifth', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const { asked } = await started(SETTLED)
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS - 1)
    expect(asked()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(asked()).toBe(2)
  })

  test('failing comparisons are repeated after 1, 2, 4 and 8 s, and after 1 s once they worked again', async () => {
    const o = { keys: [OLD], shown: 'theirs' }
    const { publication, asked, scene } = await started(o)
    expect(publication.state).toBe('conflict')
    for (const [index, seconds] of [1, 2, 4, 8, 8, 8].entries()) {
      await vi.advanceTimersByTimeAsync(seconds * SECOND_MS - 1)
      expect(asked()).toBe(index + 1)
      await vi.advanceTimersByTimeAsync(1)
      expect(asked()).toBe(index + 2)
    }
    // once it works the pauses are short again
    scene.shown = 'old'
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(publication.state).toBe('published')
    scene.shown = 'theirs'
    publication.suspect()
    await vi.advanceTimersByTimeAsync(0)
    const before = asked()
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    expect(asked()).toBe(before + 1)
  })

  test('a comparison without a response is repeated at once after another caller’s `/me`', async () => {
    const looks = [serviceError(500), new NoResponseError('postern_upstream_timeout')]
    const { publication, asked } = await started({ ...SETTLED, looks })
    publication.observe(shows('old'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(1)
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    expect([asked(), publication.remoteKeyState]).toEqual([2, null])
    publication.observe(shows('old'))
    publication.observe(shows('old'))
    await vi.advanceTimersByTimeAsync(0)
    expect([asked(), publication.remoteKeyState]).toEqual([3, 'equal'])
  })

  test('the next comparison waits for Retry-After, and for a minute after a refused token', async () => {
    for (const [error, seconds] of [
      [serviceError(429, 33), 33],
      [serviceError(401), 60],
      [serviceError(403), 1],
      [serviceError(401, 90), 60],
    ] as const) {
      const { publication, asked } = await started({ ...SETTLED, looks: [error] })
      await vi.advanceTimersByTimeAsync(seconds * SECOND_MS - 1)
      expect(asked()).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(asked()).toBe(2)
      await publication[Symbol.asyncDispose]()
    }
  })

  test('a comparison is made when a waiting rotation is due', async () => {
    const o = { keys: [NEW, OLD], shown: 'old', puts: [serviceError(403)] }
    const { publication } = await started(o)
    expect(publication.rotation?.phase).toBe('waiting')
    await vi.advanceTimersByTimeAsync(MINUTE_MS + SECOND_MS)
    expect(publication.rotation?.phase).toBe('done')
  })

  test('a failed comparison keeps the key published, and is logged once for each code', async () => {
    const { scene, publication, changes } = publishing(SETTLED)
    for (const status of [500, 500, 403]) {
      scene.looks.push(serviceError(status))
      await publication.compareNow()
    }
    expect([publication.state, changes]).toEqual(['published', []])
    const msg = 'the key could not be compared or published'
    expect(scene.logged('warn')).toEqual([
      { code: 'refused_500', msg },
      { code: 'refused_403', msg },
    ])
  })

  test('a failed comparison before the first publication reports its reason', async () => {
    const failing = publishing({ looks: [serviceError(500)] })
    await failing.publication.compareNow()
    expect(failing.changes).toEqual([
      { state: 'unpublished', detail: 'waiting to publish: refused_500' },
    ])
    const skewed = publishing({ clockSkewMs: 200_000 })
    await skewed.publication.compareNow()
    expect(skewed.changes.at(-1)).toEqual({
      state: 'unpublished',
      detail: 'our clock is 200 s ahead of the service’s: no key is made',
    })
  })
})

describe('hints that the service’s view changed', () => {
  test('two calls of `suspect` cause one comparison', async () => {
    const { publication, asked } = await started(SETTLED)
    publication.suspect()
    publication.suspect()
    await vi.advanceTimersByTimeAsync(0)
    expect([asked(), vi.getTimerCount()]).toEqual([2, 1])
  })

  test('a `suspect` during a comparison causes another one, and one timer', async () => {
    const look = Promise.withResolvers<void>()
    const { publication, asked } = await started({ ...SETTLED, looks: [look.promise] })
    publication.suspect()
    await vi.advanceTimersByTimeAsync(0)
    look.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect([asked(), vi.getTimerCount()]).toEqual([2, 1])
  })

  test('an observed `/me` with another fingerprint causes a comparison, one in other letter case none', async () => {
    const { publication, asked } = await started(SETTLED)
    publication.observe(shows('OLD'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(1)
    publication.observe(shows('other'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(2)
  })

  test('an observed `/me` causes no comparison before the first one, or during one', async () => {
    const { publication, scene, asked } = publishing(SETTLED)
    publication.observe(shows('other'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(0)
    const look = Promise.withResolvers<void>()
    publication.start()
    await vi.advanceTimersByTimeAsync(0)
    scene.looks.push(look.promise)
    const comparing = publication.compareNow()
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(2)
    publication.observe(shows('other'))
    look.resolve()
    await comparing
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(2)
    // also where a look has failed since
    scene.looks.push(serviceError(500))
    await publication.compareNow()
    publication.observe(shows('other'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked()).toBe(4)
  })
})

describe('a revoked token', () => {
  test('a paused publication makes no call until `suspect`', async () => {
    const { publication, asked } = await started(SETTLED)
    publication.pause()
    await vi.advanceTimersByTimeAsync(100 * MINUTE_MS)
    expect([asked(), vi.getTimerCount()]).toEqual([1, 0])
    publication.suspect()
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
    expect(asked()).toBe(3)
  })

  test('a `pause` during a comparison sets no timer for the next', async () => {
    const look = Promise.withResolvers<void>()
    const { publication } = await started({ ...SETTLED, looks: [look.promise] })
    publication.pause()
    look.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect([publication.state, vi.getTimerCount()]).toEqual(['published', 0])
  })
})

describe('the end of the process', () => {
  test('a disposed publication makes no call after any hint', async () => {
    const { publication, asked } = await started(SETTLED)
    await publication[Symbol.asyncDispose]()
    publication.suspect()
    publication.observe(shows('other'))
    await vi.advanceTimersByTimeAsync(100 * MINUTE_MS)
    expect([asked(), vi.getTimerCount()]).toEqual([1, 0])
  })

  test('disposal waits for the comparison under way, and logs no warning', async () => {
    const look = Promise.withResolvers<void>()
    const looks = [look.promise]
    const { publication, scene, changes } = await started({ keys: [NEW], looks })
    let isOver = false
    const ending = publication[Symbol.asyncDispose]().then(() => (isOver = true))
    await vi.advanceTimersByTimeAsync(0)
    expect(isOver).toBe(false)
    look.resolve()
    await ending
    // the attempt that was to follow is not made
    expect([scene.steps, scene.logged('warn')]).toEqual([['me'], []])
    expect(changes.at(-1)?.detail).toBe('the key is being published')
    expect(vi.getTimerCount()).toBe(0)
  })
})
