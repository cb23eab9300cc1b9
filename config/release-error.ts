/** Why a release is not made, and the programs that a release runs. */
import { spawnSync, type SpawnSyncOptions } from 'node:child_process'

/** What keeps a release from being made, and what to do about it. */
export class ReleaseError extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.name = 'ReleaseError'
    this.hint = hint
  }
}

/**
 * Runs a program to its end, and prints nothing of it.
 * @returns what it wrote to stdout
 * @throws ReleaseError with its last lines when it fails or is not installed
 */
export function runProgram(
  program: string,
  args: string[],
  options: SpawnSyncOptions = {},
): string {
  const isScript = process.platform === 'win32' && program === 'npm'
  const ran = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
    shell: isScript,
    ...options,
  })
  if (ran.error !== undefined) {
    throw new ReleaseError(`${program} does not start (${ran.error.message})`, `install ${program}`)
  }
  if (ran.status === 0) return String(ran.stdout ?? '')
  const printed = [ran.stdout, ran.stderr].map((text) => String(text ?? '').trimEnd())
  const last = printed.flatMap((text) => text.split('\n').slice(-20)).join('\n')
  throw new ReleaseError(`${program} ${args[0]} ended with ${ran.status}`, `it printed:\n${last}`)
}
