/** Commands of `postern` in the tests' own process: a twentieth of the work of a process. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { exitCodeOf, printError } from '../../src/cli/terminal.ts'
import { canaries } from './canaries.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Commands find no sandbox of the person who runs the tests. */
const NOTHING_RUNS = { XDG_RUNTIME_DIR: '', XDG_STATE_HOME: join(tmpdir(), 'postern-tests-none') }

/** Output of each command that runs, by its asynchronous context. */
const printing = new AsyncLocalStorage<{ stdout: string; stderr: string }>()
let running = 0
let restoreOutput = (): void => {}

/**
 * Runs a command as `main.ts` does: for commands that read nothing from stdin and end by
 * themselves. Several may run at once with the same environment. A few tests show that a process
 * does the same.
 */
export async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  for (const [name, value] of Object.entries({ ...NOTHING_RUNS, ...env })) vi.stubEnv(name, value)
  if (running++ === 0) restoreOutput = captureOutput()
  const printed = { stdout: '', stderr: '' }
  const code = await printing.run(printed, async () => {
    try {
      await runProgram(args)
      return 0
    } catch (error) {
      printError(error)
      return exitCodeOf(error)
    } finally {
      if (--running === 0) {
        restoreOutput()
        vi.unstubAllEnvs()
      }
    }
  })
  const { stderr } = printed
  canaries()?.watch(`postern ${args.join(' ')}`, () => stderr)
  return { code, ...printed }
}

function captureOutput(): () => void {
  const spies = (['stdout', 'stderr'] as const).map((name) => {
    const write = process[name].write.bind(process[name])
    return vi.spyOn(process[name], 'write').mockImplementation((text) => {
      const printed = printing.getStore()
      if (printed === undefined) return write(text)
      printed[name] += String(text)
      return true
    })
  })
  return () => {
    for (const spy of spies) spy.mockRestore()
  }
}
