/** Lines of `src` that differ from a commit, and a choice of these by a seed. */
import { execFileSync } from './programs.ts'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Source } from './mutants-quickly.ts'

const HUNK = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/

type Lines = { from: number; to: number }

/** A file of `src` whose lines are named. */
export interface ChangedSource extends Source {
  lines: Lines[]
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

function gitOrNull(...args: string[]): string | null {
  try {
    return git(...args)
  } catch {
    return null
  }
}

/**
 * The commit before a submission: where the branch left `origin/main`, or else the first parent.
 * @returns null without git, without a history, and at a first commit
 */
export function submissionBase(): string | null {
  const fork = gitOrNull('merge-base', 'HEAD', 'origin/main')
  const head = gitOrNull('rev-parse', 'HEAD')
  return fork !== null && fork !== head ? fork : gitOrNull('rev-parse', '--verify', 'HEAD^1')
}

/**
 * What was changed or added since a commit, committed or not.
 * @throws Error of git for a commit that is not there
 */
export function changedSince(commit: string): ChangedSource[] {
  const diff = git('diff', '--unified=0', '--no-ext-diff', '--no-prefix', '-M', commit, '--', 'src')
  const untracked = git('ls-files', '-o', '--exclude-standard', '--', 'src').split('\n')
  const changed = [...sourcesOfDiff(diff), ...untracked.map((path) => ({ path, lines: null }))]
  return changed
    .filter(({ path }) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map(({ path, lines }) => ({ path, lines: lines ?? allLines(path) }))
}

const allLines = (path: string): Lines[] => [
  { from: 1, to: readFileSync(path, 'utf8').split('\n').length },
]

/** @param diff of `git diff --unified=0 --no-prefix` */
export function sourcesOfDiff(diff: string): ChangedSource[] {
  const sources: ChangedSource[] = []
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) sources.push({ path: line.slice(4), lines: [] })
    const [, first, count = '1'] = HUNK.exec(line) ?? []
    if (first === undefined || count === '0') continue
    const from = Number(first)
    sources.at(-1)?.lines.push({ from, to: from + Number(count) - 1 })
  }
  return sources.filter(({ lines }) => lines.length > 0)
}

export const countLines = (sources: readonly ChangedSource[]): number =>
  sources.flatMap(({ lines }) => lines).reduce((sum, { from, to }) => sum + to - from + 1, 0)

/**
 * At most so many lines, in few files, so that few tests are loaded: whole files in an order that
 * follows from the seed, and the first lines of the last one.
 */
export function chosenLines(
  sources: readonly ChangedSource[],
  atMost: number,
  seed: string,
): ChangedSource[] {
  const orderOf = ({ path }: Source): string =>
    createHash('sha256').update(`${seed} ${path}`).digest('hex')
  const inOrder = sources.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  let left = atMost
  const chosen = inOrder.map(({ path, lines }) => ({
    path,
    lines: lines.flatMap(({ from, to }): Lines[] => {
      const end = Math.min(to, from + left - 1)
      left -= Math.max(0, end - from + 1)
      return end < from ? [] : [{ from, to: end }]
    }),
  }))
  return chosen.filter(({ lines }) => lines.length > 0)
}
