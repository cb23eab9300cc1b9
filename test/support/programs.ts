/** Running other programs: never through a shell, never waiting for an answer from a terminal. */
import { fork, type ChildProcess } from 'node:child_process'
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
  child: ChildProcess
  pending: Map<number, (result: RunResult) => void>
}

let runner: Runner | null = null
let runs = 0

/** Starts it when it is needed first; it ends with this process, and keeps it from ending only while it works. */
function startRunner(): Runner {
  const child = fork(join(import.meta.dirname, 'runner.ts'), [], {
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

/** Runs a program to its end. A program that is not there gives code null. */
export async function run(program: string, args: string[], options: RunOptions = {}): Promise<Ran> {
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

/** Whether a program can be run here at all. */
export const isInstalled = (program: string): boolean => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const isThere = folders.some((folder) => existsSync(join(folder, program)))
  return has(isThere, `${program} is not installed`)
}

/** A folder with a path short enough for an agent's socket, gone when disposed. */
export async function shortFolder(): Promise<{ path: string } & AsyncDisposable> {
  const parent = tmpdir().length > 40 ? '/tmp' : tmpdir()
  const path = await mkdtemp(join(parent, 'pg-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
