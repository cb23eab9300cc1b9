/** A command that runs beside us, with all that it starts, and ends with us, however we end. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { systemCodeOf, usageError } from '../errors.ts'
import { hasGroups, signalGroup } from '../util/run-command.ts'
import { isAlive } from '../operators/running-sandboxes.ts'

/** A command that was started. Disposing it ends it and everything that it started. */
export type ChildCommand = Awaited<ReturnType<typeof startCommand>>

interface CommandOptions {
  /** The program and its arguments; no shell reads them. */
  command: readonly [string, ...string[]]
  /** All of its environment. */
  env: NodeJS.ProcessEnv
  /** Called with each line that it prints, without its newline. */
  onLine: (line: string, stream: 'stdout' | 'stderr') => void
  /** Resolves when there is room for more lines; until then the command waits with its output. */
  untilTaken?: () => Promise<void>
  /** How long it has to end when it is asked to, in ms; 5000 by default. */
  graceMs?: number
}

const GRACE_MS = 5000
const LOOK_EVERY_MS = 25
const LAST_WORDS_MS = 500
/** A longer line is given in parts. */
const MAX_LINE = 8192

/**
 * Ends a group when its standard input ends without a line: then the parent process is gone.
 * A session of its own keeps it from ending with the terminal.
 */
const GUARD = 'read -r _ && exit; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"'

/**
 * Starts a command in a process group of its own, without standard input.
 * @throws OperatorError `usage` when there is no such program
 */
export async function startCommand(options: CommandOptions) {
  const { command, env, onLine, untilTaken, graceMs = GRACE_MS } = options
  const [program, ...args] = command
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(program, args, { env, stdio: [...stdio], detached: hasGroups })
  await once(child, 'spawn').catch((error: unknown) => refuse(program, error))
  const pid = child.pid ?? 0
  const guard = hasGroups ? startGuard(pid) : null
  for (const stream of ['stdout', 'stderr'] as const) {
    readLines(child[stream], { onLine: (line) => onLine(line, stream), untilTaken })
  }
  const closed = once(child, 'close')
  const ended = once(child, 'exit').then(async ([code, signal]) => {
    // Prints its last output first, unless a process that it left behind holds the output open.
    await Promise.race([closed, pause(LAST_WORDS_MS, undefined, { ref: false })])
    // The code is null when a signal ended it.
    return { code: code as number | null, signal: signal as NodeJS.Signals | null }
  })
  /** All of it is gone, and its number may be another's soon. */
  let isOver = false
  child.once('exit', () => {
    isOver = !hasGroups || !isAlive(-pid)
    if (isOver) release(guard)
  })
  return {
    pid,
    /** Resolves when the command itself has ended. */
    ended,
    [Symbol.asyncDispose]: async () => {
      const lives = (): boolean => !isOver && (!hasGroups || isAlive(-pid))
      const endMs = Date.now() + graceMs
      if (lives()) signalGroup(pid, 'SIGTERM')
      while (lives() && Date.now() < endMs) await pause(LOOK_EVERY_MS)
      if (lives()) signalGroup(pid, 'SIGKILL')
      await ended
      release(guard)
    },
  }
}

/** Ends the group of a process when this one is gone, even when it is killed. */
function startGuard(pid: number): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'postern-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  })
  // Without a shell nothing guards, and all else works.
  guard.on('error', () => undefined)
  guard.stdin?.on('error', () => undefined)
  guard.unref()
  return guard
}

/** Lets the guard go without ending anything. */
const release = (guard: ChildProcess | null): unknown => guard?.stdin?.end('done\n')

/**
 * Calls back with each line; the last may lack its newline. Of a line that was written over, as one
 * that shows progress, the last state counts.
 */
function readLines(
  stream: NodeJS.ReadableStream | null,
  o: { onLine: (line: string) => void; untilTaken: (() => Promise<void>) | undefined },
): void {
  const { onLine, untilTaken } = o
  const give = (line: string): void => onLine(line.slice(line.lastIndexOf('\r') + 1))
  let rest = ''
  stream?.setEncoding('utf8')
  stream?.on('data', (text: string) => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop() ?? ''
    lines.forEach(give)
    while (rest.length > MAX_LINE) {
      give(rest.slice(0, MAX_LINE))
      rest = rest.slice(MAX_LINE)
    }
    if (untilTaken === undefined) return
    stream.pause()
    // oxlint-disable-next-line typescript/no-floating-promises -- the stream resumes in any case
    void untilTaken().finally(() => stream.resume())
  })
  stream?.on('end', () => {
    if (rest !== '') give(rest)
  })
}

function refuse(program: string, error: unknown): never {
  const code = systemCodeOf(error)
  const why = code === 'ENOENT' ? 'there is no such program' : `it cannot be started (${code})`
  const hint = 'write the command as in a shell, after `--`: postern dev -- node my-bot.js'
  throw usageError(`${program}: ${why}`, hint, { cause: error })
}
