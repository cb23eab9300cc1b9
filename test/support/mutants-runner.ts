/**
 * Runs each test as it is, and then once more with each change that it comes by, in one process:
 * nothing is loaded again. Whatever fails with a change must pass again without it; if it does not,
 * the process is spoilt and ends, and `mutants-quickly.ts` begins another one.
 */
import { relative } from 'node:path'
import { TestRunner } from 'vitest'
import type { RunnerTask, RunnerTestCase, RunnerTestFile, TestTryOptions } from 'vitest'
import { findingsIn, write as writeTo, type Finding } from './mutants-findings.ts'

/** How often each change was come by. */
type Hits = Record<string, number>

/** What the instrumented sources look at. */
interface Switches {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  mutantCoverage?: { static: Hits; perTest: Record<string, Hits> }
  hitCount?: number
  hitLimit?: number
}
const switches = ((globalThis as { __stryker__?: Switches }).__stryker__ ??= {})

const FILE = process.env['MUTANTS_FINDINGS'] ?? ''
const takesSlow = process.env['MUTANTS_PASS'] === 'slow'
/** A change that so many tests of a group did not notice is left alone by the others. */
const MOST_TRIES = Number(process.env['MUTANTS_MOST_TRIES'] ?? Infinity)
/** Slower tests come in the second pass, when most changes were noticed already. */
const SLOW_MS = { cpu: 150, clock: 600 }
/** A loop that a change made endless ends in an error. */
const hitLimit = (hits: number): number => hits * 20 + 1000
/** Vitest tries again what fails: this is what fails when nothing else does. */
const ONCE_MORE = 'once more'

const before = findingsIn(FILE)
const decided = new Set<string>()
const done = new Set<string>()
const slow = new Set<string>()
/** The tests whose process did not come back from a change; after a few no other tries it. */
const unsure = new Map<string, string[]>()
const MOST_UNSURE = 3
const tries = new Map<string, number>()
const countTry = (change: string): unknown => tries.set(change, (tries.get(change) ?? 0) + 1)
for (const one of before) {
  if ('group' in one) tries.clear()
  if ('trying' in one) countTry(one.trying)
  if ('noticed' in one) decided.add(one.noticed)
  if ('leftOut' in one) for (const change of one.leftOut) decided.add(change)
  if ('unsure' in one) unsure.set(one.unsure, [...(unsure.get(one.unsure) ?? []), one.test])
  if ('done' in one) done.add(one.done)
  if ('fails' in one) done.add(one.fails)
  if ('slow' in one) slow.add(one.slow)
}
const write = (finding: Finding): void => writeTo(FILE, finding)

const nameOf = (task: RunnerTask): string =>
  task.suite === undefined
    ? `${task.file.name} > ${task.name}`
    : `${nameOf(task.suite)} > ${task.name}`

export default class MutantsRunner extends TestRunner {
  #test = ''
  /** As it is, with a change, and without it again because it failed. */
  #try: 'plain' | 'changed' | 'repaired' = 'plain'
  #hits: Hits = {}
  #changes: string[] = []
  #isOver = false
  #beganMs = 0
  #cpuBefore = process.cpuUsage()

  override async onBeforeRunTask(task: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(task)
    if (task.type !== 'test') return
    this.#test = nameOf(task)
    this.#try = 'plain'
    this.#isOver = false
    if (done.has(this.#test) || slow.has(this.#test) !== takesSlow) task.mode = 'skip'
    task.retry = { count: Infinity, condition: () => !this.#isOver }
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files)
    const loaded = Object.keys(switches.mutantCoverage?.static ?? {})
    for (const { filepath } of files) write({ loaded, file: relative('.', filepath) })
  }

  override onBeforeTryTask(task: RunnerTask, options: TestTryOptions): void {
    super.onBeforeTryTask(task, options)
    this.#beganMs = performance.now()
    this.#cpuBefore = process.cpuUsage()
    if (this.#try === 'plain') switches.currentTestId = task.id
    if (this.#try !== 'changed') return
    const [change = ''] = this.#changes
    write({ trying: change, test: this.#test })
    countTry(change)
    switches.hitCount = 0
    switches.hitLimit = hitLimit(this.#hits[change] ?? 0)
    switches.activeMutant = change
  }

  override onAfterTryTask(task: RunnerTask): void {
    super.onAfterTryTask(task as RunnerTestCase)
    throw new Error(ONCE_MORE)
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options)
    switches.activeMutant = undefined
    switches.currentTestId = undefined
    const errors = test.result?.errors ?? []
    const why = errors.find(({ message }) => message !== ONCE_MORE)?.message ?? null
    if (test.result) {
      test.result.errors = [{ message: ONCE_MORE }]
      test.result.attempts = []
    }
    if (this.#try === 'plain') this.#begin(test.id, why)
    else this.#goOn(why !== null)
    this.#isOver ||= this.#changes.length === 0
    if (this.#isOver && slow.has(this.#test) === takesSlow) write({ done: this.#test })
  }

  /** After the first try: which changes does it come by? */
  #begin(id: string, why: string | null): void {
    this.#hits = switches.mutantCoverage?.perTest[id] ?? {}
    this.#changes = Object.keys(this.#hits).filter((change) => {
      const spoilt = unsure.get(change) ?? []
      const isOpen = spoilt.length < MOST_UNSURE && !spoilt.includes(this.#test)
      return isOpen && !decided.has(change) && (tries.get(change) ?? 0) < MOST_TRIES
    })
    this.#try = 'changed'
    if (!takesSlow && this.#isSlow()) {
      slow.add(this.#test)
      write({ slow: this.#test })
      this.#isOver = true
    } else if (why !== null) {
      write({ fails: this.#test, why })
      this.#isOver = true
    }
  }

  /** By its CPU time first: others may use the machine, too. */
  #isSlow(): boolean {
    const { user, system } = process.cpuUsage(this.#cpuBefore)
    const clockMs = performance.now() - this.#beganMs
    return (user + system) / 1000 > SLOW_MS.cpu || clockMs > SLOW_MS.clock
  }

  #goOn(hasFailed: boolean): void {
    const [change = ''] = this.#changes
    if (this.#try === 'changed' && hasFailed) {
      this.#try = 'repaired'
      return
    }
    if (this.#try === 'repaired') {
      write(
        hasFailed ? { unsure: change, test: this.#test } : { noticed: change, test: this.#test },
      )
      // Vitest holds up every gentler end.
      if (hasFailed) process.kill(process.pid, 'SIGKILL')
      decided.add(change)
    }
    this.#try = 'changed'
    this.#changes.shift()
  }
}
