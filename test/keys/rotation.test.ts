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

test('`followRotation` counts an attempt when sends are held, and not at its later steps', () => {
  const steps = [step('waiting', 'later', 7), step('holding', 'sends')]
  const holding = { phase: 'holding', detail: 'sends', attempts: 1, nextAttemptAtMs: null }
  expect(after(...steps)).toMatchObject(holding)
  steps.push(step('publishing', 'put'), step('confirming', 'me'))
  expect(after(...steps)).toMatchObject({ phase: 'confirming', detail: 'me', attempts: 1 })
  expect(after(...steps, step('holding'))).toMatchObject({ phase: 'holding', attempts: 2 })
})

test('`followRotation` returns only a waiting rotation to the phase `made`', () => {
  const again = step('made', 'it is tried again')
  const tried = { phase: 'made', detail: 'it is tried again', nextAttemptAtMs: null }
  expect(after(step('waiting', 'refused', 7), again)).toMatchObject(tried)
  expect(after(again)).toEqual(after())
  expect(after(step('publishing', 'put'), again)).toMatchObject({ phase: 'publishing' })
})
