/** What `mutants-runner.ts` finds in its process, line by line in a file. */
import { appendFileSync, readFileSync } from 'node:fs'

/** A line, which is written as soon as it is known. */
export type Finding =
  | { noticed: string; test: string }
  /** The process did not come back to what it was, or died: to be judged in one of its own. */
  | { unsure: string; test: string }
  | { trying: string; test: string }
  /** Changes that are left out, where a sample is tried. */
  | { leftOut: string[] }
  /** All tests of a file were run; changes of what its modules do once, when they are loaded. */
  | { loaded: string[]; file: string }
  /** The tests of a group begin in a pass. */
  | { group: string }
  | { slow: string }
  | { done: string }
  | { fails: string; why: string }

/** What is written so far. */
export function findingsIn(file: string): Finding[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Finding)
}

export function write(file: string, finding: Finding): void {
  appendFileSync(file, `${JSON.stringify(finding)}\n`)
}
