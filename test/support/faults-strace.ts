/** strace(1) on the main thread of a process: which calls it makes, and what is done to one of them. */
import type { ChildProcess } from 'node:child_process'
import { spawn, works } from './programs.ts'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { has } from './lacks.ts'

/** The `nth` time that the main thread makes this system call. */
export interface Point {
  name: string
  nth: number
}

/** What happens at a point: the process is killed before the call, or the call fails so. */
export type Effect = 'SIGKILL' | 'EIO' | 'ENOSPC'

/** Whether programs can be started under strace here: it is there, and the system lets us. */
export const canTrace = works(
  'strace is not installed, or must not trace',
  'strace',
  '-o',
  '/dev/null',
  'true',
)

/** Whether strace can be attached to a process that runs: some systems let root alone. */
export async function canAttach(): Promise<boolean> {
  if (!canTrace) return false
  const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' })
  try {
    await (await Tracer.attach(sleeper.pid ?? 0)).detach()
    return true
  } catch {
    return has(false, 'strace must not be attached to a process')
  } finally {
    sleeper.kill('SIGKILL')
  }
}

/** strace while it is attached to the main thread of a process. */
export class Tracer {
  readonly #strace: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #folder: string

  private constructor(strace: ChildProcess, folder: string) {
    this.#strace = strace
    this.#folder = folder
    this.#ended = once(strace, 'close')
  }

  /** Attaches. @param o `at` and `effect` what is to happen; without, calls are only noted */
  static async attach(pid: number, o?: { at: Point; effect: Effect }): Promise<Tracer> {
    const folder = mkdtempSync(join(tmpdir(), 'postern-strace-'))
    const args = ['-y', '-o', join(folder, 'calls'), '-e', 'signal=none', '-p', String(pid)]
    if (o !== undefined) {
      const { at, effect } = o
      const effectOption = effect === 'SIGKILL' ? 'signal=SIGKILL' : `error=${effect}`
      args.unshift(
        '-e',
        `trace=${at.name}`,
        '-e',
        `inject=${at.name}:${effectOption}:when=${at.nth}`,
      )
    }
    const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    const tracer = new Tracer(strace, folder)
    let output = ''
    await new Promise<void>((resolve, reject) => {
      strace.stderr.setEncoding('utf8').on('data', (piece: string) => {
        output += piece
        if (output.includes('attached')) resolve()
      })
      void tracer.#ended.then(() => reject(new Error(`strace does not attach: ${output}`)))
    })
    return tracer
  }

  /** Lets go of the process, if it is still there. @returns what was noted, a call a line */
  async detach(): Promise<string[]> {
    this.#strace.kill('SIGINT')
    await this.#ended
    const lines = readFileSync(join(this.#folder, 'calls'), 'utf8').split('\n')
    rmSync(this.#folder, { recursive: true, force: true })
    return lines
  }
}

/** Calls that nobody outside the process can see: a kill there is one at the next that can. */
const INERT =
  /^(futex|epoll_\w+|madvise|mmap|munmap|mprotect|brk|getpid|rt_sig\w+|clone3?|fstat|restart_syscall)$/

/**
 * The points that noted lines stand for, in order; without those that cannot be seen from outside,
 * threads waking one another among them.
 */
export function pointsIn(lines: readonly string[]): Point[] {
  const counts = new Map<string, number>()
  return lines.flatMap((line) => {
    const [, name, file = ''] = /^(\w+)\((?:\d+<([^>]*)>)?/.exec(line) ?? []
    if (name === undefined) return []
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    const isInert = INERT.test(name) || /^(anon_inode|pipe):/.test(file)
    return isInert ? [] : [{ name, nth }]
  })
}

/** Whether a point was come to, by the lines that were noted while it was struck. */
export function wasHit(lines: readonly string[], { name, nth }: Point): boolean {
  return lines.filter((line) => line.startsWith(`${name}(`)).length >= nth
}
