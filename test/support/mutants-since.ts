/** Lines of `src` that differ from a commit. */
import { execFileSync } from 'node:child_process'
import type { Source } from './mutants-quickly.ts'

const HUNK = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/

/**
 * What was changed or added since a commit, committed or not.
 * @throws Error of git for a commit that is not there
 */
export function changedSince(commit: string): Source[] {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' })
  const diff = git('diff', '--unified=0', '--no-ext-diff', '--no-prefix', '-M', commit, '--', 'src')
  const untracked = git('ls-files', '-o', '--exclude-standard', '--', 'src').split('\n')
  const changed = [...sourcesOfDiff(diff), ...untracked.map((path) => ({ path, lines: null }))]
  return changed.filter(({ path }) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
}

/** @param diff of `git diff --unified=0 --no-prefix` */
export function sourcesOfDiff(diff: string): Source[] {
  const sources: { path: string; lines: { from: number; to: number }[] }[] = []
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) sources.push({ path: line.slice(4), lines: [] })
    const [, first, count = '1'] = HUNK.exec(line) ?? []
    if (first === undefined || count === '0') continue
    const from = Number(first)
    sources.at(-1)?.lines.push({ from, to: from + Number(count) - 1 })
  }
  return sources.filter(({ lines }) => lines.length > 0)
}
