/** Runs a program for what it prints: no shell, bounded in time and output, nothing of it logged. */
import { spawn } from 'node:child_process'
import { systemCodeOf } from '../errors.ts'
import { describeOthersProgram, findProgram } from './file-owners.ts'

/** A program and its arguments, and all of its environment. */
export interface ExternalCommand {
  argv: readonly string[]
  env: NodeJS.ProcessEnv
  /** One minute when not given: a person may have to touch a device. */
  timeoutMs?: number
}

const TIMEOUT_MS = 60_000
const MAX_BYTES = 64 * 1024
export const hasGroups = process.platform !== 'win32'

/** `message` completes "the command ..."; it holds nothing that the command printed. */
export class CommandError extends Error {
  override name = 'CommandError'
  /** False when the program cannot be started, so that another try does not help. */
  readonly hasStarted: boolean
  /** What to do about it; empty where it is not known. */
  readonly hint: string

  constructor(message: string, { hasStarted = true, hint = '' } = {}) {
    super(message)
    this.hasStarted = hasStarted
    this.hint = hint
  }
}

/**
 * Runs a command to its end. It is killed with its process group when it is late, or prints too
 * much; its stderr goes nowhere.
 * @param input given on its stdin
 * @returns its stdout, at most 64 KiB
 * @throws CommandError when it cannot be started, others can change it, is killed, or ends with another code than 0
 */
export async function runCommand(
  { argv, env, timeoutMs = TIMEOUT_MS }: ExternalCommand,
  input = '',
): Promise<Buffer> {
  const [name = '', ...args] = argv
  const others = describeOthersProgram(argv, env['PATH'])
  if (others !== null) {
    throw new CommandError(`is not run: ${others.message}`, { ...others, hasStarted: false })
  }
  const program = findProgram(name, env['PATH'])
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const stdio = ['pipe', 'pipe', 'ignore'] as const
  const child = started(() => spawn(program, args, { env, stdio: [...stdio], detached: hasGroups }))
  const end = (error: CommandError): void => {
    reject(error)
    signalGroup(child.pid, 'SIGKILL')
    child.stdout?.destroy()
  }
  const late = `did not end within ${timeoutMs / 1000} s and was killed`
  const timer = setTimeout(() => end(new CommandError(late)), timeoutMs)
  const chunks: Buffer[] = []
  let total = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    total += chunk.length
    chunks.push(chunk)
    if (total > MAX_BYTES) end(new CommandError(`printed more than ${MAX_BYTES / 1024} KiB`))
  })
  child.on('error', (error) => reject(notStarted(error)))
  // not `exit`: a process that it left behind may still print for it
  child.on('close', (code, signal) => {
    if (code === 0) return resolve(Buffer.concat(chunks))
    reject(
      new CommandError(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    )
  })
  // one that does not read its input ends by itself
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return await promise.finally(() => clearTimeout(timer))
}

/** Some errors of a start are thrown, and others are events. */
function started<T>(start: () => T): T {
  try {
    return start()
  } catch (error) {
    throw notStarted(error)
  }
}

const notStarted = (error: unknown): CommandError =>
  new CommandError(`cannot be started (${systemCodeOf(error)})`, { hasStarted: false })

/** Signals a process, with its group where there are groups. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(hasGroups ? -pid : pid, signal)
  } catch {
    // all of them are gone
  }
}
