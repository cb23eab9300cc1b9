/** A sidecar as a process of its own, with the settings given, and what can be measured of it. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { spawnPostern } from './postern-process.ts'

export interface SidecarProcessOptions {
  /** Folder that the process starts in, and its home. */
  cwd: string
  /** Settings, as the environment names them; the doors take any free port. */
  env: Record<string, string>
  /** Options of Node's own. */
  node?: string[]
}

/** A sidecar that runs somewhere. */
export interface RunningSidecar {
  readonly pid: number
  /** Base URL of the bot's door, and of the admin door. */
  readonly bot: string
  readonly admin: string
  /** All that it wrote so far, to either descriptor. */
  output(): string
  /** Sends a signal and waits for the end. @returns the exit code, null when killed */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export interface SidecarProcess extends RunningSidecar, AsyncDisposable {
  readonly process: ChildProcess
  /** Resolves with the exit code when it ends. */
  readonly ended: Promise<number | null>
}

/** It ended before it listened. */
export class NotStartedError extends Error {
  readonly exitCode: number | null
  readonly output: string

  constructor(exitCode: number | null, output: string) {
    super(`the sidecar ended with ${exitCode} before it listened:\n${output}`)
    this.exitCode = exitCode
    this.output = output
  }
}

/** Starts the sidecar and waits until it listens. @throws NotStartedError */
export async function startSidecarProcess(options: SidecarProcessOptions): Promise<SidecarProcess> {
  const child = spawnPostern(['run'], {
    cwd: options.cwd,
    ...(options.node && { node: options.node }),
    env: {
      PATH: '/usr/bin:/bin',
      HOME: options.cwd,
      POSTERN_LISTEN_PORT: '0',
      POSTERN_ADMIN_PORT: '0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  let isListening = false
  const listening = Promise.withResolvers<{ bot: string; admin: string }>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (isListening) return
      const line = /^\{.*"msg":"listening".*\}$/m.exec(text)
      if (line === null) return
      isListening = true
      listening.resolve(JSON.parse(line[0]) as { bot: string; admin: string })
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  void ended.then((code) => listening.reject(new NotStartedError(code, text)))
  const { bot, admin } = await listening.promise
  return {
    process: child,
    pid: child.pid ?? 0,
    bot,
    admin,
    output: () => text,
    ended,
    stop: async (signal) => {
      child.kill(signal)
      return await ended
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Bytes of memory that a process holds at most, since the last `forgetPeak` (proc(5), VmHWM). */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) * 1024
}

/** Starts the measurement of the peak anew. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Waits until `/readyz` says 200. @throws Error with its reasons after `withinMs` */
export async function untilReady(admin: string, withinMs = 25_000): Promise<void> {
  const endMs = performance.now() + withinMs
  for (;;) {
    const answer = await fetch(`${admin}/readyz`).catch(() => null)
    if (answer?.status === 200) return
    if (performance.now() > endMs) {
      throw new Error(`not ready in time: ${(await answer?.text()) ?? 'no answer'}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
