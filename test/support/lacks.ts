/** What this machine lacks, so that tests are skipped: a run prints it at its end. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const VARIABLE = 'TESTS_RUN'

/**
 * Notes what is not there, for the last lines of the run.
 * @param lack a sentence such as "go is not installed"
 * @returns whether it is there
 */
export function has(isThere: boolean, lack: string): boolean {
  const path = notesOf(process.env[VARIABLE])
  if (!isThere && path !== null) appendFileSync(path, `${lack}\n`)
  return isThere
}

/** What was noted in this run, each once. */
export function lacks(): string[] {
  const path = notesOf(process.env[VARIABLE])
  if (path === null || !existsSync(path)) return []
  return [...new Set(readFileSync(path, 'utf8').trim().split('\n'))].toSorted()
}

const notesOf = (runFolder: string | undefined): string | null =>
  runFolder === undefined ? null : join(runFolder, 'lacks')
