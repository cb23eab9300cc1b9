import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sources } from '../../src/config/sources.ts'
import { OperatorError } from '../../src/errors.ts'
import { sourcesOf } from '../support/sources.ts'

/** A folder of its own for a test, gone afterwards. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'postern-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Writes a file that nobody else can read; gives its path. */
export function file(cwd: string, name: string, text: string, mode = 0o600): string {
  const path = join(cwd, name)
  writeFileSync(path, text, { mode })
  return path
}

/** What `run` needs and nothing else. */
export const ENOUGH = {
  POSTERN_UPSTREAM_URL: 'https://api.example.org',
  POSTERN_BOT_TOKEN: 'bot_7.token',
  POSTERN_KEY_PASSPHRASE: 'correct horse battery staple',
}

/** A process that was started with `given`. */
export function sources(given: Partial<Sources> = {}): Sources {
  return { ...sourcesOf(ENOUGH, '/nowhere'), home: '/home/person', ...given }
}

/** The refusal that `action` ends in. */
export function refusalOf(action: () => unknown): OperatorError {
  try {
    action()
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
