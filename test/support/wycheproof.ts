/** Vectors of C2SP/wycheproof, read from beside the checkout where they are; never copied. */
import { existsSync, readFileSync } from 'node:fs'
import { has } from './lacks.ts'

const FOLDER = new URL('../../../shared/vectors/wycheproof/', import.meta.url)

/** Whether they are there; tests that need them say so and are skipped. */
export const hasWycheproof = has(
  existsSync(FOLDER),
  'the vectors of Wycheproof are not beside the checkout',
)

/** All cases of a file, each with its group's fields. */
export function wycheproof<Case>(file: string): Case[] {
  if (!hasWycheproof) return []
  const text = readFileSync(new URL(file, FOLDER), 'utf8')
  const { testGroups } = JSON.parse(text) as { testGroups: { tests: object[] }[] }
  return testGroups.flatMap(({ tests, ...group }) =>
    tests.map((one) => ({ ...group, ...one }) as Case),
  )
}
