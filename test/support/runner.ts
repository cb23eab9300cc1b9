/**
 * A small process that runs programs for one of the tests, on its request: the kernel copies the
 * page tables of whoever forks, which takes 20 ms where hundreds of megabytes are in use.
 */
import { spawn, type ChildProcess } from 'node:child_process'

/** What is asked of it. */
export interface RunRequest {
  id: number
  program: string
  args: string[]
  input: string | Uint8Array
  env: NodeJS.ProcessEnv
  cwd: string
}

/** How it ended; code null where the program is not there, or a signal ended it. */
export interface RunResult {
  id: number
  code: number | null
  stdout: Uint8Array
  stderr: string
}

const running = new Set<ChildProcess>()

function start({ id, program, args, input, env, cwd }: RunRequest): void {
  const child = spawn(program, args, { stdio: 'pipe', env, cwd })
  running.add(child)
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = (code: number | null): void => {
    if (!running.delete(child)) return
    const stderr = Buffer.concat(err).toString()
    const result: RunResult = { id, code, stdout: Buffer.concat(out), stderr }
    process.send?.(result)
  }
  child.on('error', () => ended(null))
  child.on('close', ended)
}

if (import.meta.main) {
  process.on('message', start)
  process.on('disconnect', () => {
    for (const child of running) child.kill('SIGKILL')
    process.exit()
  })
}
