/** What `npm run mutants` prints of the changes that it tried. */
import { readFileSync } from 'node:fs'
import type { Mutant } from '@stryker-mutator/api/core'
import { equivalentsIn } from './mutants-equivalents.ts'

/** Percent of the changes that tests must notice, by folder of `src`. */
const BOUNDS: Record<string, number> = { kernel: 90, openpgp: 90, store: 85, http: 85, wiring: 85 }
/** Those that reach their bound so far: a change of one must, too. */
const REACHED = ['kernel', 'store', 'http']
/** Fewer changes say nothing of a score. */
const LEAST_CHANGES = 20

const folderOf = (path: string): string => path.split('/')[1] ?? ''

/** Whether a file lies in a folder that has a bound. */
export const hasBound = (path: string): boolean => folderOf(path) in BOUNDS

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
 * @returns `src/a.ts: 90 % (9 of 10)`
 */
export function score(
  name: string,
  tried: readonly Mutant[],
  survivors: ReadonlySet<Mutant>,
): string {
  const noticed = tried.filter((one) => !survivors.has(one)).length
  return `${name}: ${Math.floor(percentOf(noticed, tried.length))} % (${noticed} of ${tried.length})`
}

const percentOf = (noticed: number, all: number): number =>
  all === 0 ? 100 : (100 * noticed) / all

/** The folders that reach their bound, but not by these changes, of which enough were tried. */
export function foldersBelow(tried: readonly Mutant[], survivors: ReadonlySet<Mutant>): string[] {
  return REACHED.filter((folder) => {
    const own = tried.filter(({ fileName }) => folderOf(fileName) === folder)
    const noticed = own.filter((one) => !survivors.has(one)).length
    return own.length >= LEAST_CHANGES && percentOf(noticed, own.length) < (BOUNDS[folder] ?? 0)
  })
}
