/** Children that end with the process that started them, however that ends. */
import { existsSync, readFileSync } from 'node:fs'
import { installed } from './programs.ts'

const SETPRIV = '/usr/bin/setpriv'
const hasSetpriv = existsSync(SETPRIV)

/**
 * A command that the kernel kills when whoever spawned it is gone (prctl(2), PR_SET_PDEATHSIG), so
 * that nothing outlives a run that is cut short. Its process id is the command's own.
 * @returns what `spawn` takes; the command as it is where there is no setpriv
 */
export function mortal(command: string, args: readonly string[]): [string, string[]] {
  installed(command)
  if (!hasSetpriv) return [command, [...args]]
  return [SETPRIV, ['--pdeathsig', 'KILL', command, ...args]]
}

/** Whether a process is there: one that has ended and waits to be reaped is not (proc(5)). */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
