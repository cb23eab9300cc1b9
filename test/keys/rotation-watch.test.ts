import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RotationWatch } from '../../src/keys/rotation.ts'

const BEGUN = { from: 'a', to: 'b', startedAtMs: 5, detail: 'the new key is on disk' }
const MINUTE_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

test('a rotation that begins is under way, and its next step is due', () => {
  const watch = new RotationWatch()
  expect([watch.latest, watch.current, watch.waitMs]).toEqual([null, null, 0])
  const rest = { phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null }
  expect(watch.begin(BEGUN)).toEqual({ ...BEGUN, ...rest })
  expect(watch.current).toEqual(watch.latest)
  expect(watch.waitMs).toBe(0)
})

test('an attempt is counted when sends are held, and not at its later steps', () => {
  const watch = new RotationWatch()
  watch.begin(BEGUN)
  watch.wait({ detail: 'later' })
  for (const attempt of [1, 2]) {
    watch.enter('holding', 'sends')
    expect(watch.current).toMatchObject({ phase: 'holding', detail: 'sends', attempts: attempt })
    expect(watch.current?.nextAttemptAtMs).toBeNull()
    watch.enter('publishing', 'put')
    watch.enter('confirming', 'me')
    expect(watch.current).toMatchObject({ phase: 'confirming', detail: 'me', attempts: attempt })
  }
})

test('the pause doubles with each failure up to an hour, and is never shorter than asked for', () => {
  const watch = new RotationWatch()
  watch.begin(BEGUN)
  const minutes = Array.from({ length: 9 }, () => {
    watch.wait({ detail: 'refused' })
    return watch.waitMs / MINUTE_MS
  })
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  expect(watch.current).toMatchObject({
    phase: 'waiting',
    detail: 'refused',
    nextAttemptAtMs: 1_000_000 + 60 * MINUTE_MS,
  })
  watch.wait({ detail: 'asked', atLeastMs: 90 * MINUTE_MS })
  expect(watch.waitMs).toBe(90 * MINUTE_MS)
  vi.advanceTimersByTime(91 * MINUTE_MS)
  expect(watch.waitMs).toBe(0)
  // the next rotation begins with a short pause again
  watch.begin(BEGUN)
  expect(watch.waitMs).toBe(0)
  watch.wait({ detail: 'refused' })
  expect(watch.waitMs).toBe(MINUTE_MS)
})

test('what waits for something else, or is hurried, is due at once', () => {
  const watch = new RotationWatch()
  watch.begin(BEGUN)
  watch.wait({ detail: 'refused' })
  watch.stall('a key that is not ours')
  expect(watch.current).toMatchObject({
    phase: 'waiting',
    detail: 'a key that is not ours',
    nextAttemptAtMs: null,
  })
  expect(watch.waitMs).toBe(0)
  watch.wait({ detail: 'refused' })
  watch.hurry()
  expect(watch.current).toMatchObject({
    phase: 'made',
    detail: 'it is tried again',
    nextAttemptAtMs: null,
  })
  expect(watch.waitMs).toBe(0)
  // one that is at the service already stays there
  watch.enter('publishing', 'put')
  watch.hurry()
  expect(watch.current).toMatchObject({ phase: 'publishing', detail: 'put' })
})

test('one that ended is the latest, and not the current one', () => {
  const watch = new RotationWatch()
  watch.begin(BEGUN)
  watch.wait({ detail: 'refused' })
  expect(watch.endedSince(0)).toBe(false)
  const beforeMs = performance.now()
  const ended = watch.end('done')
  expect(ended).toMatchObject({
    phase: 'done',
    detail: '',
    endedAtMs: Date.now(),
    nextAttemptAtMs: null,
  })
  expect([watch.current, watch.latest]).toEqual([null, ended])
  expect([watch.endedSince(beforeMs), watch.endedSince(performance.now() + 1)]).toEqual([
    true,
    false,
  ])
})

test('nothing changes while none is under way', () => {
  const watch = new RotationWatch()
  watch.begin(BEGUN)
  const ended = watch.end('abandoned')
  watch.enter('holding', 'sends')
  watch.wait({ detail: 'refused' })
  expect(watch.waitMs).toBe(0)
  watch.stall('a key')
  watch.hurry()
  expect(watch.end('done')).toBeNull()
  expect(watch.latest).toEqual(ended)
  expect(watch.waitMs).toBe(0)
})
