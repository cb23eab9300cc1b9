import { expect, test } from 'vitest'
import { beginLife } from '../../../src/keys/life/life.ts'
import { beginRotation, pauseMsOf, pauseRotation } from '../../../src/keys/life/rotation.ts'
import { Transition } from '../../../src/keys/life/transition.ts'
import { factsOf, keyOf, pendingKey } from '../publication-scene.ts'

const MINUTE_MS = 60_000
const FACTS = factsOf([pendingKey('b'), keyOf('a')], { monotonicMs: 700 })

test('the pause of a rotation doubles up to an hour, and is at least the service’s Retry-After', () => {
  const change = new Transition(beginLife(FACTS, null), FACTS)
  beginRotation(change, 'the new key is on disk')
  const minutes = Array.from({ length: 9 }, () => {
    pauseRotation(change, 'refused')
    return pauseMsOf(change) / MINUTE_MS
  })
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  pauseRotation(change, 'asked', 90 * MINUTE_MS)
  expect(pauseMsOf(change)).toBe(90 * MINUTE_MS)
  const later = { ...FACTS, monotonicMs: FACTS.monotonicMs + 91 * MINUTE_MS }
  expect(pauseMsOf(new Transition(change.life, later))).toBe(0)
  // the next rotation begins with a short pause again
  beginRotation(change, 'the new key is on disk')
  pauseRotation(change, 'refused')
  expect(pauseMsOf(change)).toBe(MINUTE_MS)
})
