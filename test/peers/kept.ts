/** The answers of the peers, as `npm run peers -- --ask` kept them. */
import { existsSync, readFileSync } from 'node:fs'
import type { Question } from './shape.ts'

export const FILE = new URL('answers.json', import.meta.url)

export interface Kept {
  versions: Record<string, string>
  /** By shape and program. */
  shapes: Record<string, Record<string, Partial<Record<Question, boolean>>>>
}

export const kept = (): Kept =>
  existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Kept) : { versions: {}, shapes: {} }
