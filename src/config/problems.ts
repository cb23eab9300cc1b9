/** The problems of settings, reported together. */
import leven from 'leven'
import { OperatorError } from '../errors.ts'

/** One thing that is wrong. None of its texts repeats a value, for it might be a secret. */
export interface Problem {
  /** `FILE:LINE:COLUMN`, the name of a variable, a flag; empty when it is nowhere. */
  place: string
  /** The setting, dotted; empty when it is about a whole source. */
  path: string
  /** The expected value, or the fault. */
  message: string
  /** The nearest right name. */
  nearest?: string | undefined
  /** What to do, when the message alone does not suffice. */
  hint?: string | undefined
}

/** How many are described. */
const SHOWN = 100

/**
 * One refusal out of all problems.
 * @param problems at least one
 * @returns OperatorError `settings`
 */
export function settingsError(problems: readonly Problem[]): OperatorError {
  const lines = problems.slice(0, SHOWN).map(describeProblem)
  const hints = [...new Set(problems.flatMap(({ hint }) => (hint === undefined ? [] : [hint])))]
  const message = describeRefusal('the settings are refused', lines, problems.length)
  const hint = hints.length === 0 ? '`postern config list` lists every setting' : hints.join('\n')
  return new OperatorError('settings', message, hint)
}

/**
 * The message of a refusal.
 * @param lines a problem each
 * @param count of all problems; there may be fewer lines
 */
export function describeRefusal(refusal: string, lines: readonly string[], count: number): string {
  if (lines.length === 1) return `${refusal}: ${lines[0]}`
  return [`${refusal}, for ${count} reasons:`, ...lines.map((line) => `  ${line}`)].join('\n')
}

/**
 * The refusal where nothing at all is set: its reader has most likely just begun.
 * @param required the missing settings
 * @returns OperatorError `settings`
 */
export function nothingSetError(required: readonly Problem[]): OperatorError {
  const lines = [
    '`postern init` asks a few questions and writes the settings',
    '`postern demo` shows all of it on this machine, with nothing to set',
    'or set these yourself, `postern config list` lists every setting:',
    ...required.map(describeProblem),
  ]
  return new OperatorError('settings', 'nothing is set up here yet', lines.join('\n'))
}

/** A problem as one line. */
export function describeProblem({ place, path, message, nearest }: Problem): string {
  const where = [place, path].filter((part) => part !== '').join(' ')
  const meant = nearest === undefined ? '' : `, did you mean ${nearest}?`
  return `${where}: ${message}${meant}`
}

/** Longest name that is compared: the time grows with both lengths. No name of ours has half of it. */
const LONGEST = 100

/**
 * The name that was probably meant: of a setting, a group, a variable, a flag or a value.
 * @returns the candidate with the fewest edits, if these are at most a third of its length, or one
 *   whose last words are `written`, or its last part; undefined when none is near
 */
export function nearestName(written: string, candidates: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined
  const wanted = wordsOf(written)
  const ends = [wanted, wordsOf(written.split('.').at(-1) ?? '')].map((end) => `.${end}`)
  const compared = candidates.map((candidate) => {
    const name = wordsOf(candidate)
    const isEnd = ends.some((end) => name.endsWith(end))
    const edits = isEnd ? 1 : leven(wanted, name)
    return { candidate, edits, isNear: edits <= Math.max(1, Math.floor(name.length / 3)) }
  })
  const near = compared.filter(({ isNear }) => isNear).toSorted((a, b) => a.edits - b.edits)
  return near[0]?.candidate
}

/** The words of a name, however they are joined; without the one that all variables begin with. */
const wordsOf = (name: string): string =>
  name
    .replace(/^POSTERN_/, '')
    .replace(/(?<=[a-z])(?=[A-Z])|[_-]/g, '.')
    .toLowerCase()

/** Paths, and those of the groups above them. */
export const withGroups = (paths: readonly string[]): string[] => [
  ...new Set(paths.flatMap((path) => [path.replace(/\.[^.]*$/, ''), path])),
]
