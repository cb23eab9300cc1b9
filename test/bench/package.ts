/** The package as somebody installs it who has nothing else, and what a process takes. */
import { execFileSync } from '../support/programs.ts'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './measure.ts'
import { MAIN } from './processes.ts'

const ROOT = join(MAIN, '../..')
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
  return { ...temporary, main: join(installed, 'bin/postern.cjs'), bytes: bytesIn(installed) }
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
    sleeps: number('voluntary_ctxt_switches'),
  }
}
