import type { z } from 'zod'
import { PosternError } from '../../errors.ts'

/** Field names and indexes from the top of a seed. */
export type SeedPath = (string | number)[]

/** One thing that is wrong with a seed. */
export interface SeedProblem {
  path: SeedPath
  /** The expected form, or the problem. */
  message: string
  /** Known names, where the name is unknown. */
  candidates?: readonly string[]
}

/** A seed that is refused, with everything that is wrong with it. */
export class SeedError extends PosternError {
  readonly code = 'bad_seed'
  readonly problems: readonly SeedProblem[]

  constructor(problems: readonly SeedProblem[]) {
    const lines = problems.map(({ path, message }) => `${path.join('.')}: ${message}`)
    super(`the seed is refused:\n${lines.join('\n')}`)
    this.problems = problems
  }
}

/** Turns a schema's issues into problems. @param keysOf gives the fields that an object at a path can have */
export const toSeedProblems = (error: z.ZodError, keysOf: (path: SeedPath) => readonly string[]) =>
  error.issues.flatMap((issue): SeedProblem[] => {
    const path = namesIn(issue.path)
    if (issue.code === 'unrecognized_keys') {
      const problem = { message: 'no such field', candidates: keysOf(path) }
      return issue.keys.map((key) => ({ path: [...path, key], ...problem }))
    }
    if (issue.code === 'invalid_key') return [{ path, message: expected(issue.issues[0]?.message) }]
    if (issue.code !== 'invalid_union') return [{ path, message: expected(issue.message) }]
    const [closest] = issue.errors.toSorted((a, b) => depth(b) - depth(a))
    if (closest === undefined || depth(closest) === 0) {
      const alternatives = new Set(issue.errors.map(([first]) => expected(first?.message)))
      return [{ path, message: [...alternatives].join(', or ') || expected(issue.message) }]
    }
    return closest.map((one) => ({
      path: [...path, ...namesIn(one.path)],
      message: expected(one.message),
    }))
  })

const namesIn = (path: readonly PropertyKey[]): SeedPath =>
  path.filter((part) => typeof part !== 'symbol')

/** How far into a value an alternative got before something was wrong. */
function depth(issues: readonly z.core.$ZodIssue[]): number {
  const depths = issues.map(({ path, code }) => path.length + Number(code === 'unrecognized_keys'))
  return Math.max(0, ...depths)
}

/** Zod's message without the received value, which may quote what a person wrote. */
function expected(message: string | undefined): string {
  const missing = message?.endsWith(', received undefined') === true ? 'missing: ' : ''
  const rest = (message ?? 'wrong')
    .replace(/^Invalid discriminator value\. Expected /, 'expected one of ')
    .replace(/^Invalid (?:input|option): /, '')
    .replace(/^Too (?:small|big): expected/, 'expected')
    .replace(/, received .*$/, '')
  return missing + rest
}
