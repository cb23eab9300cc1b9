/** The rule: what three of the five programs take, we take, unless a promise forbids it. */
import { FIVE } from './kept.ts'
import { PROMISES, type Promised } from './promises.ts'
import type { Question } from './shape.ts'

/** One answer of ours beside those of the programs. */
export interface Compared {
  key: string
  question: Question
  /** All that take it. */
  takers: readonly string[]
  /** `yes`, or our reason. */
  ours: string
}

/**
 * `agreed`: as three of the five; `promised`: refused as a promise says; `more`: taken though fewer
 * do; `short`: refused though no promise says so, or not for its reason.
 */
export type Verdict = 'agreed' | 'promised' | 'more' | 'short'

export const isTaken = ({ takers }: Compared): boolean =>
  FIVE.filter((name) => takers.includes(name)).length >= 3

/** The promise that an answer falls under. */
export const promiseOf = ({ key, question }: Compared): Promised | undefined =>
  PROMISES.find(({ shapes, reasons }) => reasons[question] !== undefined && shapes.test(key))

export function verdictOf(compared: Compared): Verdict {
  const { question, ours } = compared
  if (isTaken(compared) === (ours === 'yes')) return 'agreed'
  if (ours === 'yes') return 'more'
  return promiseOf(compared)?.reasons[question] === ours ? 'promised' : 'short'
}
