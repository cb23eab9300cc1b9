import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'
import { listening } from '../support/listening.ts'
import { spawnPostern } from '../support/postern-process.ts'
import { runInProcess, type Ended } from '../support/run-in-process.ts'

export { isRunning } from '../support/mortal.ts'
export { runInProcess, type Ended }

export interface Given {
  cwd: string
  env?: Record<string, string>
  /** What stdin holds; nothing when absent. */
  input?: string | Buffer
  /** Options of Node's own. */
  node?: string[]
}

/** A `postern` that was started, as a process of its own with an environment of its own. */
export interface Started {
  process: ChildProcess
  ended: Promise<Ended>
  /** Resolves with what matched once it stood on stderr. */
  waitForStderr: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The same for stdout. */
  waitForStdout: (pattern: RegExp) => Promise<RegExpExecArray>
}

/** Runs a command to its end. */
export function postern(args: readonly string[], given: Given): Promise<Ended> {
  return start(args, given).ended
}

/** The line that `postern sandbox --json` prints. */
export interface SandboxLine {
  url: string
  controlUrl: string
  bots: { id: number; username: string; token: string }[]
  people: { id: number; username: string }[]
  chats: { id: number; kind: string; mode: string }[]
}

/** Starts `postern sandbox`, and waits for its line. */
export async function startSandbox(args: readonly string[], cwd: string) {
  const started = start(['sandbox', '--json', ...args], { cwd })
  const [line] = await started.waitForStdout(/^.*\n/)
  return { ...started, line: JSON.parse(line) as SandboxLine }
}

/** Starts a command; it is killed when the test is over. */
export function start(args: readonly string[], given: Given): Started {
  const child = spawnPostern(args, {
    cwd: given.cwd,
    env: { PATH: '/usr/bin:/bin', HOME: given.cwd, ...given.env },
    ...(given.node && { node: given.node }),
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(given.input ?? '')
  const texts = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
      for (const look of waiting) look()
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }))
  const until = (name: keyof typeof texts, pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(texts[name])
        if (match === null) return
        waiting.delete(look)
        resolve(match)
      }
      waiting.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without ${pattern}: ${texts.stderr}`)))
    })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    process: child,
    ended,
    waitForStderr: (pattern) => until('stderr', pattern),
    waitForStdout: (pattern) => until('stdout', pattern),
  }
}

/** What `postern run` needs, with a service that takes calls and never answers. */
export async function silentService(
  onRequest: (text: string) => void = () => {},
): Promise<Record<string, string>> {
  const server = createServer((socket) => {
    socket.on('data', (bytes: Buffer) => onRequest(bytes.toString('latin1')))
  })
  return { ...TOKENS, POSTERN_UPSTREAM_URL: await listening(server) }
}

export const TOKEN = 'bot_7.hunter2hunter2'
export const TOKENS = {
  POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1',
  POSTERN_BOT_TOKEN: TOKEN,
  POSTERN_KEY_PASSPHRASE: 'swordfish-swordfish',
  POSTERN_LISTEN_PORT: '0',
  POSTERN_ADMIN_PORT: '0',
}
