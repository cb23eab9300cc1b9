/**
 * A command that is killed before each of its system calls on the store and on what it makes
 * (strace's injection), and what must hold afterwards. One run a point: the n-th call is the last.
 */
import { spawn } from '../support/programs.ts'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMPILED, mainFile } from '../support/postern-process.ts'
import { sampleOf } from './sample.ts'

/** Calls that change a file system, or make sure that a change is on the disk. */
const FILE_CALLS =
  'pwrite64,pwritev,fsync,fdatasync,ftruncate,fallocate,rename,renameat,renameat2,link,linkat,' +
  'unlink,unlinkat,mkdir,mkdirat,chmod,fchmod,fchmodat,copy_file_range,sendfile'
/** These every program makes all the time, so they count on watched paths alone. */
const CALLS = `${FILE_CALLS},write,writev,openat`

/** What a command must leave whole, wherever it is killed. */
export interface Operation {
  name: string
  /** Makes what the command finds. @param folder empty; everything is below it */
  prepare(folder: string): Promise<void>
  command: readonly string[]
  env: Readonly<Record<string, string>>
  /**
   * Paths below the folder whose calls are counted; folders count for what is made in them. None:
   * those calls count that only files know, wherever they are, for files whose names are made up.
   */
  watched: readonly string[]
  /** Looks at what is left. @throws Error for whatever does not hold */
  check(folder: string, o: { isDone: boolean }): Promise<void>
}

/** How a run under strace ended. */
interface Traced {
  code: number | null
  output: string
  /** Counted calls of the thread that made the most. */
  calls: number
}

/** Runs the command once. @param inject as strace takes it, such as `signal=KILL:when=3` */
export async function traced(
  operation: Operation,
  folder: string,
  inject?: string,
): Promise<Traced> {
  const log = join(folder, '..', `${folder.split('/').at(-1)}.strace`)
  const paths = operation.watched.flatMap((path) => ['-P', join(folder, path)])
  const counted = paths.length === 0 ? FILE_CALLS : CALLS
  const what = ['-e', `trace=${counted}`]
  if (inject !== undefined) what.push('-e', `inject=${counted}:${inject}`)
  const args = [
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    log,
    ...paths,
    ...what,
    process.execPath,
    mainFile(),
  ]
  const child = spawn('strace', [...args, ...operation.command], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, NODE_COMPILE_CACHE: COMPILED, ...operation.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  rmSync(log, { force: true })
  const byThread = new Map<string, number>()
  for (const line of lines) {
    const [, thread] = /^(\d+) +\w+\(/.exec(line) ?? []
    if (thread !== undefined) byThread.set(thread, (byThread.get(thread) ?? 0) + 1)
  }
  return { code, output, calls: Math.max(0, ...byThread.values()) }
}

/** What trying an operation at many points came to. */
export interface Outcome {
  /** How many calls there are to be killed before. */
  calls: number
  tried: number
  broken: string[]
}

/**
 * Kills an operation before its calls, each time from a fresh start.
 * @param o `points` how many of them, evenly spread; all when absent. `inject` what happens at the
 *   point: a kill, unless it is told otherwise (`error=EIO`). `calls` how many there are, where an
 *   earlier outcome has said it
 */
export async function killAll(
  operation: Operation,
  o: { points?: number; inject?: string; calls?: number } = {},
): Promise<Outcome> {
  const inject = o.inject ?? 'signal=KILL'
  const calls = o.calls ?? (await countCalls(operation))
  const all = Array.from({ length: calls }, (_, n) => n + 1)
  const points = sampleOf(all, o.points ?? calls)
  const broken: string[] = []
  for (const point of points) {
    await inFolder(async (folder) => {
      await operation.prepare(folder)
      const { code, output } = await traced(operation, folder, `${inject}:when=${point}`)
      if (code === 1) refuseBadWords(output)
      await operation.check(folder, { isDone: code === 0 })
      refuseOpenFiles(folder)
    }).catch((error: unknown) => broken.push(`before call ${point}: ${String(error)}`))
  }
  return { calls, tried: points.length, broken }
}

/** Lets an operation go well. */
async function countCalls(operation: Operation): Promise<number> {
  return await inFolder(async (folder) => {
    await operation.prepare(folder)
    const { code, output, calls } = await traced(operation, folder)
    if (code !== 0) throw new Error(`${operation.name} does not work: ${output}`)
    await operation.check(folder, { isDone: true })
    return calls
  })
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kill-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A command that fails by itself says why, and what to do. */
function refuseBadWords(output: string): void {
  const isGood = /^postern: /m.test(output) && /^hint: /m.test(output) && !/internal/.test(output)
  if (!isGood) throw new Error(`it said: ${output}`)
}

/** Nothing that was made may be read by others, finished or not. */
function refuseOpenFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const { mode } = statSync(join(folder, name))
    if ((mode & 0o077) !== 0) throw new Error(`${name} has mode ${(mode & 0o777).toString(8)}`)
  }
}
