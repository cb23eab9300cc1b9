/** The package as somebody installs it who has nothing else, and what a process takes. */
import { execFileSync } from '../support/programs.ts'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './measure.ts'

const ROOT = new URL('../..', import.meta.url).pathname
/** Of `/proc/PID/stat`, what Linux counts processor time in. */
const TICK_MS = 10
const MIB = 1024 * 1024

/** Builds and packs, and lays out what an install without the keychain's library has. */
export function installPackage(): Disposable & { main: string; bytes: number } {
  const temporary = temporaryFolder()
  const folder = temporary.path
  const quiet = { cwd: ROOT, stdio: 'pipe' } as const
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], quiet)
  const [packed = ''] = readdirSync(folder)
  execFileSync('tar', ['xzf', packed], { cwd: folder })
  const installed = join(folder, 'package')
  mkdirSync(join(installed, 'node_modules'))
  cpSync(join(ROOT, 'node_modules/openpgp'), join(installed, 'node_modules/openpgp'), {
    recursive: true,
  })
  return {
    ...temporary,
    main: join(installed, 'bin/postern.cjs'),
    bytes: bytesIn(installed),
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** What a process takes, as Linux counts it. */
export interface Taken {
  /** MiB of memory that are there. */
  memory: number
  /** MiB of memory, at the most so far. */
  peak: number
  /** Processor time since it began, ms. */
  cpuMs: number
  threads: number
  /** How often its main thread has gone to sleep. */
  sleeps: number
}

/** Processor time of a process so far, of all threads that it has, to the microsecond (Linux). */
export function cpuMsOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((sum, task) => sum + runningMs(`/proc/${pid}/task/${task}`), 0)
}

function runningMs(task: string): number {
  return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

/** Of its main thread alone. */
export function loopMsOf(pid: number): number {
  return runningMs(`/proc/${pid}/task/${pid}`)
}

/** Looks at a process. */
export function takenBy({ pid }: { pid: number }): Taken {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  const number = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return {
    memory: (number('VmRSS') * 1024) / MIB,
    peak: (number('VmHWM') * 1024) / MIB,
    cpuMs: (user + system) * TICK_MS,
    threads: number('Threads'),
    sleeps: number('voluntary_ctxt_switches'),
  }
}

/** Processor time so far of processes, ms; of none that has ended. */
export function cpuMsOfAll(pids: readonly number[]): number {
  const running = pids.filter((pid) => existsSync(`/proc/${pid}`))
  return running.reduce((sum, pid) => sum + takenBy({ pid }).cpuMs, 0)
}

/** Processor time of the parts of a bench while something runs. */
export class CpuMeter {
  /** Their names. */
  readonly parts: readonly string[]
  readonly #soFar: Record<string, () => number>
  readonly #spent = new Map<string, number>()
  #wallMs = 0

  /** @param soFar ms that each part has used */
  constructor(soFar: Record<string, () => number>) {
    this.parts = Object.keys(soFar)
    this.#soFar = soFar
  }

  async during<T>(run: () => Promise<T>): Promise<T> {
    const begun = Object.entries(this.#soFar).map(([part, ms]) => ({ part, ms, before: ms() }))
    const startedAt = performance.now()
    const result = await run()
    this.#wallMs += performance.now() - startedAt
    for (const { part, ms, before } of begun) {
      this.#spent.set(part, this.spentMs(part) + ms() - before)
    }
    return result
  }

  spentMs(part: string): number {
    return this.#spent.get(part) ?? 0
  }

  /** How many cores each part kept busy. */
  cores(): string {
    const each = this.parts.map(
      (part) => `${part} ${(this.spentMs(part) / this.#wallMs).toFixed(2)}`,
    )
    return `cores busy: ${each.join(', ')}`
  }
}
