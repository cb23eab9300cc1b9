/**
 * The one door to other programs. A test that reaches one which is not installed ends as skipped,
 * with the reason; a hook or a script asks `isInstalled` first.
 */
import * as childProcess from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { has } from './lacks.ts'
import type { RunRequest, RunResult } from './runner.ts'

export interface Ran {
  code: number | null
  stdout: Buffer
  stderr: string
}

export interface RunOptions {
  input?: string | Uint8Array
  env?: NodeJS.ProcessEnv
  cwd?: string
}

interface Runner {
  child: childProcess.ChildProcess
  pending: Map<number, (result: RunResult) => void>
}

let runner: Runner | null = null
let runs = 0

/** Starts it when it is needed first; it ends with this process, and keeps it from ending only while it works. */
function startRunner(): Runner {
  const child = childProcess.fork(join(import.meta.dirname, 'runner.ts'), [], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const pending: Runner['pending'] = new Map()
  child.on('message', (result: RunResult) => {
    pending.get(result.id)?.(result)
    pending.delete(result.id)
    if (pending.size === 0) child.channel?.unref()
  })
  child.unref()
  return { child, pending }
}

/** Runs a program to its end, in a small process beside this one (`runner.ts`); code null where a signal ended it. */
export async function run(program: string, args: string[], options: RunOptions = {}): Promise<Ran> {
  installed(program)
  const { child, pending } = (runner ??= startRunner())
  const { input = '', env = { ...process.env }, cwd = process.cwd() } = options
  const id = runs++
  const request: RunRequest = { id, program, args, input, env, cwd }
  const { code, stdout, stderr } = await new Promise<RunResult>((resolve) => {
    pending.set(id, resolve)
    child.channel?.ref()
    child.send(request)
  })
  return { code, stdout: Buffer.from(stdout), stderr }
}

/** Where what runs programs for this process is, once it has run one. */
export const runnerPid = (): number | null => runner?.child.pid ?? null

/** OpenPGP programs, databases, containers, tracers: `npm test` starts none of them, installed or not. */
const SYSTEM_PROGRAMS = new Set(
  'gpg gpgconf sq sqop rnp rnpkeys gosop pgpainless-cli psql pg_dump buildah strace go age'.split(
    ' ',
  ),
)

/** Whether this is `npm test`, which needs Node alone. */
export const isQuickRun = (): boolean => process.env['TESTS_KIND'] === 'quick'

/** Null for a program that this run may start, a name in PATH or a path; else the reason. */
function whyAbsent(program: string): string | null {
  if (isQuickRun() && SYSTEM_PROGRAMS.has(program)) {
    return `${program} is left to npm run test:system`
  }
  const folders = program.includes('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter)
  const isThere = folders.some((folder) => existsSync(join(folder, program)))
  return isThere ? null : `${program} is not installed`
}

/** Whether this run may start all of these programs; it prints the reason for each that it may not. */
export const isInstalled = (...programs: string[]): boolean =>
  programs.map(whyAbsent).every((reason) => has(reason === null, reason ?? ''))

let skip: (reason: string) => void = () => {}

/** Registers the function that ends the current test as skipped, for a set-up file. */
export const onNotInstalled = (end: (reason: string) => void): void => void (skip = end)

/** @returns the program. @throws Error outside of a test, where it is not installed */
export function installed(program: string): string {
  const reason = whyAbsent(program)
  if (reason === null) return program
  skip(reason)
  throw new Error(
    `${reason}: a hook or a script finds this beforehand by isInstalled('${program}')`,
  )
}

/** A function of `node:child_process` that starts programs which are installed. */
function guarded<F extends (program: string, ...more: never[]) => unknown>(start: F): F {
  const starting = (program: string, ...more: never[]) => start(installed(program), ...more)
  // with its form for `promisify`
  return Object.defineProperties(starting, Object.getOwnPropertyDescriptors(start)) as F
}

/** Whether this run may start a program, which ends with 0 for these arguments; `lack` names why not. */
export function works(lack: string, program: string, ...args: string[]): boolean {
  const reason = whyAbsent(program)
  if (reason !== null) return has(false, reason)
  return has(childProcess.spawnSync(program, args, { stdio: 'ignore' }).status === 0, lack)
}

export const spawn = guarded(childProcess.spawn)
export const spawnSync = guarded(childProcess.spawnSync)
export const execFile = guarded(childProcess.execFile)
export const execFileSync = guarded(childProcess.execFileSync)

/** A folder with a path short enough for an agent's socket, gone when disposed. */
export async function shortFolder(): Promise<{ path: string } & AsyncDisposable> {
  const parent = tmpdir().length > 40 ? '/tmp' : tmpdir()
  const path = await mkdtemp(join(parent, 'pg-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
