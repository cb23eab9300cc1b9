/** A store with a key that no service knows yet, made once for all stages of a run. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DoubleService } from './double-service.ts'
import { runPostern, settings } from './sidecar.ts'

let mine: string | null = null

/** Of Vitest's global setup, once for each project: makes it as `postern key generate` does. */
export async function setup(): Promise<void> {
  if (process.env['TESTS_STORE'] !== undefined) return
  mine = mkdtempSync(join(tmpdir(), 'gs-'))
  await using double = await DoubleService.start()
  const made = await runPostern(['key', 'generate'], {
    env: settings({ upstream: double.url, dataDir: mine }),
  })
  if (made.code !== 0) throw new Error(made.stderr)
  process.env['TESTS_STORE'] = mine
}

/** Takes it away at the end. */
export function teardown(): void {
  if (mine !== null) rmSync(mine, { recursive: true, force: true })
}

/** A data directory with a copy of it: a start publishes its key, and needs not make one first. */
export function copyOfStore(): string | undefined {
  const made = process.env['TESTS_STORE']
  if (made === undefined) return undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'sc-'))
  cpSync(made, dataDir, { recursive: true })
  return dataDir
}
