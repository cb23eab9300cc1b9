import { expect, test } from 'vitest'
import { beginLife } from '../../../src/keys/life/life.ts'
import {
  beginRotation,
  endRotation,
  hurryRotation,
  pauseMsOf,
  pauseRotation,
} from '../../../src/keys/life/rotation.ts'
import { Transition } from '../../../src/keys/life/transition.ts'
import { factsOf, keyOf, pendingKey } from '../publication-scene.ts'

const MINUTE_MS = 60_000
const FACTS = factsOf([pendingKey('b', { createdAtMs: 5 }), keyOf('a')], { monotonicMs: 700 })
const CURRENT = { from: 'a', to: 'b' }

/** A life without a rotation. */
const idle = (facts = FACTS): Transition => new Transition(beginLife(facts, null), facts)
/** The same while a rotation is under way. */
function begun(): Transition {
  const change = idle()
  beginRotation(change, 'the new key is on disk')
  return change
}
const pauseAt = ({ life }: Transition, monotonicMs: number): number =>
  pauseMsOf(new Transition(life, { ...FACTS, monotonicMs }))

test('a pending key beside an active one is a rotation, whose next step is due', () => {
  const change = begun()
  expect([change.life.rotation.current, pauseMsOf(change)]).toEqual([CURRENT, 0])
  expect(change.effects).toEqual([
    { kind: 'rotation-begun', ...CURRENT, startedAtMs: 5, detail: 'the new key is on disk' },
  ])
})

test.each([[[keyOf('a')]], [[pendingKey('b')]], [[]]])('without both there is none', (keys) => {
  const change = idle({ ...FACTS, keys })
  beginRotation(change, 'the new key is on disk')
  expect([change.life.rotation.current, change.effects]).toEqual([null, []])
})

test('the pause doubles with each failure up to an hour, and is never shorter than asked for', () => {
  const change = begun()
  const minutes = Array.from({ length: 9 }, () => {
    pauseRotation(change, 'refused')
    return pauseMsOf(change) / MINUTE_MS
  })
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  expect(change.effects.at(-1)).toEqual({
    kind: 'rotation-step',
    phase: 'waiting',
    detail: 'refused',
    waitMs: 60 * MINUTE_MS,
  })
  pauseRotation(change, 'asked', 90 * MINUTE_MS)
  expect(pauseMsOf(change)).toBe(90 * MINUTE_MS)
  expect(pauseAt(change, FACTS.monotonicMs + 91 * MINUTE_MS)).toBe(0)
  // the next rotation begins with a short pause again
  beginRotation(change, 'the new key is on disk')
  expect(pauseMsOf(change)).toBe(0)
  pauseRotation(change, 'refused')
  expect(pauseMsOf(change)).toBe(MINUTE_MS)
})

test('one that is hurried is due at once', () => {
  const change = begun()
  pauseRotation(change, 'refused')
  hurryRotation(change, 'made', 'it is tried again')
  expect(pauseMsOf(change)).toBe(0)
  expect(change.effects.at(-1)).toEqual({
    kind: 'rotation-step',
    phase: 'made',
    detail: 'it is tried again',
    waitMs: null,
  })
})

test('one that ended is not under way, and it is known when', () => {
  const change = begun()
  pauseRotation(change, 'refused')
  endRotation(change, 'done')
  const { current, endedAtMs } = change.life.rotation
  expect([current, endedAtMs]).toEqual([null, FACTS.monotonicMs])
  const step = { kind: 'rotation-step', phase: 'done', detail: '', waitMs: null }
  expect(change.effects.at(-1)).toEqual(step)
  beginRotation(change, 'the new key is on disk')
  expect(change.life.rotation).toMatchObject({ current: CURRENT, endedAtMs: FACTS.monotonicMs })
})

test('nothing changes while none is under way', () => {
  const change = idle()
  const { life } = change
  pauseRotation(change, 'refused')
  hurryRotation(change, 'waiting', 'a key')
  endRotation(change, 'done')
  change.showRotation('holding', 'sends')
  change.report('refused')
  expect([change.life, change.effects]).toEqual([life, []])
})
