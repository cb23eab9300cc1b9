import type { RecordKind } from '../persistence/persistence.ts'
import type { ScheduledStep, StepError } from './schedule.ts'

/** Former names of what others rely on. They go on working. */

/** A `StepError`, as `onMishap` and the operation `story` give it. */
export interface Mishap {
  atMs: number
  deed: StepError['action']
  why: string
}

export function toMishap({ atMs, action, reason }: StepError): Mishap {
  return { atMs, deed: action, why: reason }
}

type StoredStep = Omit<ScheduledStep, 'action'> & { deed: ScheduledStep['action'] }

/** How steps are stored: files of the first version have `deed`. */
export const STEP_KIND: RecordKind<ScheduledStep> = {
  name: 'step',
  write: ({ action, ...rest }): StoredStep => ({ ...rest, deed: action }),
  read: (stored) => {
    const { deed, ...rest } = stored as StoredStep
    return { ...rest, action: deed }
  },
}
