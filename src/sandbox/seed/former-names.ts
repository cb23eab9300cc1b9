import type { StepError } from '../control/operation.ts'

/** Former names of what others rely on. They go on working. */

/** A `StepError`, as `onMishap` and the operation `story` give it. */
export interface Mishap {
  atMs: number
  deed: string
  why: string
}

export function toMishap({ atMs, action, reason }: StepError): Mishap {
  return { atMs, deed: action, why: reason }
}
