/**
 * `test/mutants-equivalent.txt`: changes that nobody can observe, and why. A file of `src` stands at
 * the beginning of a line, its changes below with two spaces, as `npm run mutants` prints them, and
 * the reason of each with four.
 */
import { readFileSync } from 'node:fs'

export interface Equivalent {
  file: string
  /** `if (a < b) return: a < b → a <= b` */
  change: string
  reason: string
}

const LIST = 'test/mutants-equivalent.txt'

/** What is listed. @throws Error for a line that is not of this form */
export function equivalentsIn(text: string = readFileSync(LIST, 'utf8')): Equivalent[] {
  const found: Equivalent[] = []
  let file = ''
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const depth = line.search(/\S/)
    const last = found.at(-1)
    if (depth === 0) file = line
    else if (depth === 2 && file !== '') found.push({ file, change: line.slice(2), reason: '' })
    else if (depth === 4 && last) last.reason = `${last.reason} ${line.trim()}`.trim()
    else throw new Error(`${LIST} has a line of no known form: ${line}`)
  }
  return found
}
