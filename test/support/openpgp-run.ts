/** Running other programs: never through a shell, never waiting for an answer from a terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { has } from './lacks.ts'

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

/** Runs a program to its end. A program that is not there gives code null. */
export async function run(program: string, args: string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(program, args, {
    stdio: 'pipe',
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const code = await new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('close', resolve)
  })
  return { code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }
}

/** Whether a program can be run here at all. */
export const isInstalled = (program: string): boolean =>
  has(
    spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined,
    `${program} is not installed`,
  )

/** A folder with a path short enough for an agent's socket, gone when disposed. */
export async function shortFolder(): Promise<{ path: string } & AsyncDisposable> {
  const parent = tmpdir().length > 40 ? '/tmp' : tmpdir()
  const path = await mkdtemp(join(parent, 'pg-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  }
}
