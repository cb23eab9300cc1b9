import { findContradictions } from './check.ts'
import { toSeedProblems, SeedError } from './problem.ts'
import { Seed } from './schema.ts'
import { keysAt } from './walk.ts'

/**
 * Checks a parsed seed file and fills in all defaults.
 * @throws SeedError with everything that is wrong
 */
export function readSeed(raw: unknown): Seed {
  const parsed = Seed.safeParse(raw)
  const shape = parsed.success ? [] : toSeedProblems(parsed.error, (path) => keysAt(Seed, path))
  const known = new Set(shape.map(({ path }) => path.join('.')))
  const problems = [
    ...shape,
    ...findContradictions(raw).filter(({ path }) => !known.has(path.join('.'))),
  ]
  if (parsed.success && problems.length === 0) return parsed.data
  throw new SeedError(problems)
}
