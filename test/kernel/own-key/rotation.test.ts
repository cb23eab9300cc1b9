import { expect, test } from 'vitest'
import {
  beginRotation,
  currentRotation,
  endRotation,
  enterPhase,
  hurryRotation,
  NO_ROTATION,
  pauseMsOf,
  pauseRotation,
  stallRotation,
} from '../../../src/kernel/own-key/rotation.ts'

const BEGUN = { from: 'a', to: 'b', startedAtMs: 5, detail: 'the new key is on disk' }
const MINUTE_MS = 60_000
const NOW = { nowMs: 1_000_000, monotonicMs: 700 }
const begun = beginRotation(NO_ROTATION, BEGUN)

test('a rotation that begins is under way, and its next step is due', () => {
  expect([NO_ROTATION.latest, currentRotation(NO_ROTATION), pauseMsOf(NO_ROTATION, 0)]).toEqual([
    null,
    null,
    0,
  ])
  const rest = { phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null }
  expect(begun.latest).toEqual({ ...BEGUN, ...rest })
  expect(currentRotation(begun)).toEqual(begun.latest)
  expect(pauseMsOf(begun, 0)).toBe(0)
})

test('an attempt is counted when sends are held, and not at its later steps', () => {
  let progress = pauseRotation(begun, { detail: 'later' }, NOW)
  for (const attempts of [1, 2]) {
    progress = enterPhase(progress, 'holding', 'sends')
    expect(progress.latest).toMatchObject({ phase: 'holding', detail: 'sends', attempts })
    expect(progress.latest?.nextAttemptAtMs).toBeNull()
    progress = enterPhase(enterPhase(progress, 'publishing', 'put'), 'confirming', 'me')
    expect(progress.latest).toMatchObject({ phase: 'confirming', detail: 'me', attempts })
  }
})

test('the pause doubles with each failure up to an hour, and is never shorter than asked for', () => {
  let progress = begun
  const minutes = Array.from({ length: 9 }, () => {
    progress = pauseRotation(progress, { detail: 'refused' }, NOW)
    return pauseMsOf(progress, NOW.monotonicMs) / MINUTE_MS
  })
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  expect(progress.latest).toMatchObject({
    phase: 'waiting',
    detail: 'refused',
    nextAttemptAtMs: NOW.nowMs + 60 * MINUTE_MS,
  })
  const asked = pauseRotation(progress, { detail: 'asked', atLeastMs: 90 * MINUTE_MS }, NOW)
  expect(pauseMsOf(asked, NOW.monotonicMs)).toBe(90 * MINUTE_MS)
  expect(pauseMsOf(asked, NOW.monotonicMs + 91 * MINUTE_MS)).toBe(0)
  // the next rotation begins with a short pause again
  const next = beginRotation(asked, BEGUN)
  expect(pauseMsOf(next, NOW.monotonicMs)).toBe(0)
  const paused = pauseRotation(next, { detail: 'refused' }, NOW)
  expect(pauseMsOf(paused, NOW.monotonicMs)).toBe(MINUTE_MS)
})

test('one that waits for something else, or is hurried, is due at once', () => {
  const paused = pauseRotation(begun, { detail: 'refused' }, NOW)
  const stalled = stallRotation(paused, 'a key that is not ours')
  expect(stalled.latest).toMatchObject({
    phase: 'waiting',
    detail: 'a key that is not ours',
    nextAttemptAtMs: null,
  })
  expect(pauseMsOf(stalled, NOW.monotonicMs)).toBe(0)
  const hurried = hurryRotation(paused)
  expect(hurried.latest).toMatchObject({
    phase: 'made',
    detail: 'it is tried again',
    nextAttemptAtMs: null,
  })
  expect(pauseMsOf(hurried, NOW.monotonicMs)).toBe(0)
  // one that is at the service already stays there
  const putting = enterPhase(hurried, 'publishing', 'put')
  expect(hurryRotation(putting).latest).toMatchObject({ phase: 'publishing', detail: 'put' })
})

test('one that ended is the latest, and not the current one', () => {
  const ended = endRotation(pauseRotation(begun, { detail: 'refused' }, NOW), 'done', NOW)
  expect(ended.latest).toMatchObject({
    phase: 'done',
    detail: '',
    endedAtMs: NOW.nowMs,
    nextAttemptAtMs: null,
  })
  expect([currentRotation(ended), ended.endedAtMs]).toEqual([null, NOW.monotonicMs])
  expect(beginRotation(ended, BEGUN).endedAtMs).toBe(NOW.monotonicMs)
})

test('nothing changes while none is under way', () => {
  const { latest } = endRotation(begun, 'abandoned', NOW)
  const ended = endRotation(begun, 'abandoned', NOW)
  const changes = [
    enterPhase(ended, 'holding', 'sends'),
    pauseRotation(ended, { detail: 'refused' }, NOW),
    stallRotation(ended, 'a key'),
    hurryRotation(ended),
    endRotation(ended, 'done', NOW),
  ]
  for (const one of changes) {
    expect([one.latest, pauseMsOf(one, NOW.monotonicMs)]).toEqual([latest, 0])
  }
})
