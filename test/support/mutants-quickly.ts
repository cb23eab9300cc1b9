/**
 * The first part of `npm run mutants`: all changes of the sources are built in at once, and each
 * test runs with one after the other switched on, without loading anything again
 * (`mutants-runner.ts`). What it does not find noticed is left to Stryker's own, slower way.
 */
import { spawn } from './programs.ts'
import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Instrumenter, type File } from '@stryker-mutator/instrumenter'
import type { Mutant } from '@stryker-mutator/api/core'
import { findingsIn, write, type Finding } from './mutants-findings.ts'

/** A file of `src`, or some of its lines. Each file is there once. */
export interface Source {
  path: string
  lines: { from: number; to: number }[] | null
}

export interface QuickResult {
  /** All changes that there are, or those of the sample. */
  mutants: Mutant[]
  /** Those that no test noticed, or that none comes by. */
  left: Mutant[]
  /** Those among them that only loading comes by: they cannot be tried so. */
  constants: Set<string>
  /** Those left that no test had tried when time was up; null where all tests ran. */
  untriedInTime: Set<string> | null
}

/** A test that writes nothing for so long is stuck in the change that it tries. */
const STUCK_AFTER_MS = { quick: 10_000, slow: 40_000 }
/** How many tests try a change, beside all that lie in the folder like its own. */
const MOST_TRIES = { quick: 20, slow: 5 }
/** One that loads, or prepares what its tests share, takes no longer. */
const STUCK_LOADING_MS = 120_000
export type Pass = keyof typeof STUCK_AFTER_MS

/**
 * Tries all changes of sources with tests that stay in one process.
 * @param tests in groups; the first has the most to say, and is run in full
 * @param o `folder` for files that the caller removes; `passes` with quick tests alone, or with slow
 *   ones after them; `isThorough` where all groups are run in full; `endsAtMs` by the clock, or never;
 *   `sample`: how many changes are tried at most, which are always the same; `onProgress` hears lines for people
 */
export async function tryQuickly(
  sources: Source[],
  tests: string[][],
  o: {
    folder: string
    passes: readonly Pass[]
    isThorough: boolean
    endsAtMs: number
    sample: number
    onProgress: (line: string) => unknown
  },
): Promise<QuickResult> {
  const { files, mutants: all } = await instrument(sources)
  const mutants = sampleOf(all, o.sample)
  const instrumented = join(o.folder, 'sources.json')
  const findings = join(o.folder, 'findings')
  writeFileSync(instrumented, JSON.stringify(Object.fromEntries(files)))
  const chosen = new Set(mutants)
  const leftOut = all.filter((one) => !chosen.has(one)).map(({ id }) => id)
  writeFileSync(findings, '')
  write(findings, { leftOut })
  const judged = (): Set<string> =>
    new Set(findingsIn(findings).flatMap((one) => ('noticed' in one ? [one.noticed] : [])))
  const isTimeUp = (): boolean => Date.now() >= o.endsAtMs
  const beganAtMs = Date.now()
  for (const pass of o.passes) {
    for (const [index, group] of tests.entries()) {
      write(findings, { group: `${pass} ${index}` })
      const mostTries = index === 0 || o.isThorough ? Infinity : MOST_TRIES[pass]
      const run = { pass, instrumented, findings, isTimeUp, mostTries }
      while (!isTimeUp() && !(await runOnce(group, run)));
      const seconds = Math.round((Date.now() - beganAtMs) / 1000)
      const sofar = `${judged().size} of ${mutants.length} changes noticed`
      o.onProgress(`${sofar} after ${seconds} s (${group.length} files of ${pass} tests)`)
    }
  }
  const failed = findingsIn(findings).flatMap((one) => ('fails' in one ? [one.fails] : []))
  for (const test of new Set(failed)) {
    o.onProgress(`left out, since it fails without a change: ${test}`)
  }
  if (!isTimeUp() && !findingsIn(findings).some((one) => 'file' in one)) {
    throw new Error('no test could be run: does `npm test` run them?')
  }
  const noticed = judged()
  const tried = new Set<string>()
  const loaded = new Set<string>()
  for (const one of findingsIn(findings)) {
    if ('trying' in one) tried.add(one.trying)
    if ('loaded' in one) for (const id of one.loaded) loaded.add(id)
  }
  const left = mutants.filter(({ id }) => !noticed.has(id))
  const ids = new Set(left.map(({ id }) => id))
  const constants = new Set([...loaded].filter((id) => ids.has(id) && !tried.has(id)))
  const untried = left.filter(({ id }) => !tried.has(id)).map(({ id }) => id)
  return { mutants, left, constants, untriedInTime: isTimeUp() ? new Set(untried) : null }
}

/** So many of them, spread evenly, in their order. */
function sampleOf(mutants: Mutant[], size: number): Mutant[] {
  const orderOf = ({ fileName, id, replacement }: Mutant): string =>
    createHash('sha256').update(`${fileName} ${id} ${replacement}`).digest('hex')
  const order = new Map(mutants.map((one) => [one, orderOf(one)]))
  const inOrder = mutants.toSorted((one, other) =>
    (order.get(one) ?? '') < (order.get(other) ?? '') ? -1 : 1,
  )
  const chosen = new Set(inOrder.slice(0, size))
  return mutants.filter((one) => chosen.has(one))
}

async function instrument(sources: Source[]) {
  const silent = (): void => {}
  const logger = { debug: silent, info: silent, isDebugEnabled: () => false }
  const given = sources.map(({ path, lines }): File => {
    const content = readFileSync(path, 'utf8')
    if (lines === null) return { name: path, mutate: true, content }
    const mutate = lines.map(({ from, to }) => ({
      start: { line: from - 1, column: 0 },
      end: { line: to - 1, column: Number.MAX_SAFE_INTEGER },
    }))
    return { name: path, mutate, content }
  })
  const options = { ignorers: [], excludedMutations: [], plugins: null, noHeader: false }
  const { files, mutants } = await new Instrumenter(logger as never).instrument(given, options)
  const texts = files.map(({ name, content }): [string, string] => [name, content])
  return { files: texts, mutants: [...mutants] }
}

/** @returns whether all of it was tried; not where a process ended on the way */
async function runOnce(
  tests: string[],
  o: {
    pass: Pass
    instrumented: string
    findings: string
    isTimeUp: () => boolean
    mostTries: number
  },
): Promise<boolean> {
  const before = findingsIn(o.findings)
  const ofGroup = before.slice(before.findLastIndex((one) => 'group' in one))
  const over = new Set(ofGroup.flatMap((one) => ('file' in one ? [one.file] : [])))
  const left = tests.filter((test) => !over.has(test))
  if (left.length === 0) return true
  const child = spawn('vitest', ['run', '--config', 'config/vitest-mutants.ts'], {
    env: {
      ...process.env,
      MUTANTS_TESTS: left.join(' '),
      MUTANTS_SOURCES: o.instrumented,
      MUTANTS_FINDINGS: o.findings,
      MUTANTS_PASS: o.pass,
      MUTANTS_MOST_TRIES: String(o.mostTries),
    },
    stdio: 'ignore',
    detached: true,
  })
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  process.on('exit', end)
  let isStuck = false
  const beganAtMs = Date.now()
  const watch = setInterval(() => {
    const quietMs = Date.now() - Math.max(beganAtMs, statSync(o.findings).mtimeMs)
    isStuck = quietMs > STUCK_AFTER_MS[o.pass] && changeTried(o.findings) !== null
    if (isStuck || quietMs > STUCK_LOADING_MS || o.isTimeUp()) end()
  }, 500)
  await new Promise((resolve) => child.on('close', resolve))
  clearInterval(watch)
  process.off('exit', end)
  const tried = changeTried(o.findings)
  if (tried !== null && (isStuck || !o.isTimeUp())) {
    const { trying, test } = tried
    const finding: Finding = isStuck ? { noticed: trying, test } : { unsure: trying, test }
    write(o.findings, finding)
  }
  const after = findingsIn(o.findings).slice(before.length)
  return tried === null && !after.some((one) => 'unsure' in one)
}

/** The change that a test is trying, or was when its process ended. */
function changeTried(findings: string): Extract<Finding, { trying: string }> | null {
  const last = findingsIn(findings).at(-1)
  return last !== undefined && 'trying' in last ? last : null
}
