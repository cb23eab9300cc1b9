/** A store with a key that no service knows yet, made once for all stages of a run. */
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DoubleService } from './double-service.ts'
import { onceInRun } from './run-folder.ts'
import { runPostern, settings } from './sidecar.ts'

/** A data directory with a copy of it: a start publishes its key, and needs not make one first. */
export async function copyOfStore(): Promise<string> {
  const made = await onceInRun('store', generate)
  const dataDir = mkdtempSync(join(tmpdir(), 'sc-'))
  cpSync(made, dataDir, { recursive: true })
  return dataDir
}

async function generate(dataDir: string): Promise<void> {
  await using double = await DoubleService.start()
  const env = settings({ upstream: double.url, dataDir })
  const made = await runPostern(['key', 'generate'], { env })
  if (made.code !== 0) throw new Error(made.stderr)
}
