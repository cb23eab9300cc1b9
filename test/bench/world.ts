import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createSidecar } from '../../src/context.ts'
import { createLogger } from '../../src/logger.ts'
import { createSandbox } from '../../src/sandbox/create.ts'

/** A sandbox with a sidecar before it, for calls either way. */
export interface BenchWorld extends AsyncDisposable {
  direct(method: 'GET', path: string): Promise<void>
  through(method: 'GET', path: string): Promise<void>
}

export async function startWorld(): Promise<BenchWorld> {
  const sandbox = await createSandbox({ rates: 'off' })
  const dataDir = mkdtempSync(join(tmpdir(), 'pb-'))
  const sidecar = await createSidecar({
    settings: settingsFrom({
      upstream: { url: sandbox.url },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: join(dataDir, 'data'),
    }),
    secrets: {
      botToken: SecretSource.fromValue(sandbox.token, 'token'),
      clientToken: null,
      passphrase: SecretSource.fromValue('bench'),
    },
    log: createLogger({ level: 'silent', pretty: false }),
  })
  const { bot, admin } = await sidecar.listen()
  await untilReady(admin)
  const pools = { direct: new Pool(sandbox.url), through: new Pool(bot) }
  const call = async (pool: Pool, method: 'GET', path: string): Promise<void> => {
    const answer = await pool.request({
      method,
      path: `/bot/v1${path}`,
      headers: { authorization: `Bearer ${sandbox.token}` },
    })
    await answer.body.arrayBuffer()
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`)
  }
  return {
    direct: (method, path) => call(pools.direct, method, path),
    through: (method, path) => call(pools.through, method, path),
    async [Symbol.asyncDispose]() {
      await Promise.all([pools.direct.close(), pools.through.close()])
      await sidecar[Symbol.asyncDispose]()
      await sandbox[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function untilReady(admin: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${admin}/readyz`)
    await answer.text()
    if (answer.ok) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
