/** What `npm run mutants` prints of the changes that it tried. */
import { readFileSync } from 'node:fs'
import type { Mutant } from '@stryker-mutator/api/core'
import { equivalentsIn } from './mutants-equivalents.ts'

/** Percent of the changes that tests must notice. */
const BOUND = { inner: 90, elsewhere: 85 }
const INNER = /^src\/(kernel|openpgp)\//
/** Fewer changes say nothing of a score. */
const LEAST_CHANGES = 20

export const boundOf = (path: string): number => (INNER.test(path) ? BOUND.inner : BOUND.elsewhere)

/** The line in which a change begins, what it replaces, and by what. */
export function changeOf({ fileName, location: { start, end }, replacement }: Mutant): string {
  const all = readFileSync(fileName, 'utf8').split('\n')
  const lines = all.slice(start.line, end.line + 1)
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column) ?? ''
  lines[0] = lines[0]?.slice(start.column) ?? ''
  const [before, after] = [lines.join(' '), replacement].map((code) => code.replace(/\s+/g, ' '))
  const short = (code = ''): string => (code.length > 100 ? `${code.slice(0, 100)} …` : code)
  return `${all[start.line]?.trim()}: ${short(before)} → ${short(after)}`
}

/** The same with its place. */
export const describe = (one: Mutant): string =>
  `${one.fileName}:${one.location.start.line + 1}:${one.location.start.column + 1} ${changeOf(one)}`

/** Those that no list calls equivalent. */
export function withoutEquivalents(mutants: readonly Mutant[]): Mutant[] {
  const listed = new Set(equivalentsIn().map(({ file, change }) => `${file} ${change}`))
  return mutants.filter((one) => !listed.has(`${one.fileName} ${changeOf(one)}`))
}

/**
 * @param tried changes that tests decided about
 * @param survivors those of them that nothing noticed
 * @returns `src/a.ts: 90 % (9 of 10)`, and whether enough were tried and too few noticed
 */
export function score(
  name: string,
  tried: readonly Mutant[],
  survivors: ReadonlySet<Mutant>,
): { line: string; isBelow: boolean } {
  const noticed = tried.filter((one) => !survivors.has(one)).length
  const percent = tried.length === 0 ? 100 : (100 * noticed) / tried.length
  const bounds = tried.reduce((sum, { fileName }) => sum + boundOf(fileName), 0) / tried.length
  return {
    line: `${name}: ${Math.floor(percent)} % (${noticed} of ${tried.length})`,
    isBelow: tried.length >= LEAST_CHANGES && percent < bounds,
  }
}
