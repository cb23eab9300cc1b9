/** A store with a key that no service knows yet, made once for all stages of a run. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DoubleService } from './double-service.ts'
import { runPostern, settings } from './sidecar.ts'

/** Vitest's global setup: makes it as `postern key generate` does, and takes it away at the end. */
export default async function setup(): Promise<(() => void) | undefined> {
  // each project asks for it
  if (process.env['TESTS_STORE'] !== undefined) return undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'gs-'))
  await using double = await DoubleService.start()
  const made = await runPostern(['key', 'generate'], {
    env: settings({ upstream: double.url, dataDir }),
  })
  if (made.code !== 0) throw new Error(made.stderr)
  process.env['TESTS_STORE'] = dataDir
  return () => rmSync(dataDir, { recursive: true, force: true })
}

/** A data directory with a copy of it: a start publishes its key, and needs not make one first. */
export function copyOfStore(): string | undefined {
  const made = process.env['TESTS_STORE']
  if (made === undefined) return undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'sc-'))
  cpSync(made, dataDir, { recursive: true })
  return dataDir
}
