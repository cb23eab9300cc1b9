import { expect, test } from 'vitest'
import { followRotation, type Rotation, type RotationStep } from '../../src/keys/rotation.ts'

const NOW_MS = 1_000_000
const BEGUN = { from: 'a', to: 'b', startedAtMs: 5, detail: 'the new key is on disk' }

const step = (
  phase: Rotation['phase'],
  detail = '',
  waitMs: number | null = null,
): RotationStep => ({ kind: 'rotation-step', phase, detail, waitMs })
const after = (...steps: RotationStep[]): Rotation | null =>
  steps.reduce<Rotation | null>(
    (rotation, one) => followRotation(rotation, one, NOW_MS),
    followRotation(null, { kind: 'rotation-begun', ...BEGUN }, NOW_MS),
  )

test('a rotation that begins is made', () => {
  const rest = { phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null }
  expect(after()).toEqual({ ...BEGUN, ...rest })
  expect(followRotation(null, step('holding'), NOW_MS)).toBeNull()
})

test('an attempt is counted when sends are held, and not at its later steps', () => {
  const steps = [step('waiting', 'later', 7), step('holding', 'sends')]
  const holding = { phase: 'holding', detail: 'sends', attempts: 1, nextAttemptAtMs: null }
  expect(after(...steps)).toMatchObject(holding)
  steps.push(step('publishing', 'put'), step('confirming', 'me'))
  expect(after(...steps)).toMatchObject({ phase: 'confirming', detail: 'me', attempts: 1 })
  expect(after(...steps, step('holding'))).toMatchObject({ phase: 'holding', attempts: 2 })
})

test('one that waits names the time of the next attempt, where that is known', () => {
  const waiting = { phase: 'waiting', detail: 'refused', nextAttemptAtMs: NOW_MS + 7 }
  expect(after(step('waiting', 'refused', 7))).toMatchObject(waiting)
  expect(after(step('waiting', 'refused', 7), step('waiting', 'a key'))).toMatchObject({
    phase: 'waiting',
    detail: 'a key',
    nextAttemptAtMs: null,
  })
})

test('only one that waits is tried again', () => {
  const again = step('made', 'it is tried again')
  const tried = { phase: 'made', detail: 'it is tried again', nextAttemptAtMs: null }
  expect(after(step('waiting', 'refused', 7), again)).toMatchObject(tried)
  expect(after(again)).toEqual(after())
  expect(after(step('publishing', 'put'), again)).toMatchObject({ phase: 'publishing' })
})

test('one that ended says when', () => {
  const waiting = step('waiting', 'refused', 7)
  for (const phase of ['done', 'abandoned'] as const) {
    const ended = { phase, detail: '', endedAtMs: NOW_MS, nextAttemptAtMs: null }
    expect(after(waiting, step(phase))).toMatchObject(ended)
  }
})
