/** A folder for one run of the tests, and what its processes make there once, on demand. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const VARIABLE = 'TESTS_RUN'

/** The folder of this run, which `global-setup.ts` makes. @throws Error outside of a run */
export function runFolder(): string {
  const folder = process.env[VARIABLE]
  if (folder === undefined) throw new Error('the global setup did not run')
  return folder
}

/** Makes the folder, whose path all processes of the run inherit; others may enter it. */
export function makeRunFolder(): void {
  process.env[VARIABLE] ??= mkdtempSync(join(tmpdir(), 'tr-'))
}

/** Removes it. */
export function removeRunFolder(): void {
  rmSync(runFolder(), { recursive: true, force: true })
}

/**
 * Makes something once in a run, whichever process asks first; the others wait for it. A process
 * whose turn fails gets the error, and the next one tries.
 * @param name of what is made, and of the folder for it
 * @returns the folder
 */
export async function onceInRun(
  name: string,
  make: (folder: string) => void | Promise<void>,
): Promise<string> {
  const folder = join(runFolder(), name)
  const ready = `${folder}.ready`
  while (!existsSync(ready)) {
    if (!madeFolder(folder)) {
      await pause(20)
      continue
    }
    try {
      await make(folder)
      writeFileSync(ready, '')
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }
  return folder
}

function madeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
