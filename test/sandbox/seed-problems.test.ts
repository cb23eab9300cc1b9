import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSandbox } from '../../src/sandbox/create.ts'
import { SeedError } from '../../src/sandbox/seed/problem.ts'
import { readSeed } from '../../src/sandbox/seed/read.ts'
import type { SeedInput } from '../../src/sandbox/seed/schema.ts'

/** The problems of a seed, each in a line. */
function problemsOf(seed: unknown): string[] {
  try {
    readSeed(seed)
    return []
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    return error.problems.map(({ path, message }) => `${path.join('.')}: ${message}`)
  }
}

interface SeedProblems {
  good: SeedInput
  wrong: { what: string; onGood?: boolean; seed: object; problems: string[] }[]
}

const { good, wrong } = parse(
  readFileSync('test/sandbox/seed-problems.yaml', 'utf8'),
) as SeedProblems

test('the empty seed and a seed of every kind have no problems', () => {
  expect(problemsOf({})).toEqual([])
  expect(problemsOf(good)).toEqual([])
})

test.each(wrong)('`readSeed` reports all problems of a seed with $what', (row) => {
  const seed = { ...(row.onGood === true && good), ...row.seed }
  expect(problemsOf(seed).toSorted()).toEqual(row.problems.toSorted())
})

test('`createSandbox` rejects a seed with a problem', async () => {
  const seed = { people: { alice: { key: 'rsa1' } } } as unknown as SeedInput
  await expect(createSandbox({ world: seed })).rejects.toThrow(/people\.alice\.key/)
})
