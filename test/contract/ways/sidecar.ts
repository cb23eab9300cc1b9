import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SecretSource } from '../../../src/config/secrets.ts'
import { settingsFrom } from '../../../src/config/settings.ts'
import { createSidecar, type Sidecar, type SidecarOptions } from '../../../src/context.ts'
import { canaries } from '../../support/canaries.ts'
import { freshSchema } from '../../support/postgres.ts'
import { watchedLog } from '../../support/watched-log.ts'
import { until } from '../steps.ts'

const PASSPHRASE = 'a passphrase for tests alone'

/** A sidecar in this process, ready to be called. */
export interface RunningSidecar extends AsyncDisposable {
  /** Base url of the bot's door. */
  url: string
  operations: Sidecar['operations']
  /** Writes another token into its token file, which it reads when the service refuses the old. */
  writeToken(token: string): Promise<void>
}

/** Starts a sidecar before a service, with a data directory of its own, and waits until ready. */
export async function startSidecarInProcess(o: {
  upstream: string
  token: string
  publish: boolean
  parts: NonNullable<SidecarOptions['parts']>
  /** `store.url`; the store is in a folder when absent. */
  storeUrl?: string | undefined
}): Promise<RunningSidecar> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-'))
  const tokenFile = join(folder, 'token')
  const writeToken = (token: string) => {
    canaries()?.secret(token)
    return writeFile(tokenFile, `${token}\n`, { mode: 0o600 })
  }
  await writeToken(o.token)
  canaries()?.secret(PASSPHRASE)
  const sidecar = await createSidecar({
    settings: settingsFrom({
      upstream: { url: o.upstream },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: join(folder, 'data'),
      key: { publish: o.publish, protection: 'none' },
      store: { schema: freshSchema() },
    }),
    secrets: {
      botToken: SecretSource.fromFile(tokenFile, 'token'),
      clientToken: null,
      passphrase: SecretSource.fromValue(PASSPHRASE),
      ...(o.storeUrl !== undefined && { storeUrl: SecretSource.fromValue(o.storeUrl, 'database') }),
    },
    log: watchedLog(),
    parts: o.parts,
  })
  const { bot } = await sidecar.listen()
  await until(
    () => sidecar.operations.status(),
    ({ ready }) => ready,
  )
  return {
    url: bot,
    operations: sidecar.operations,
    writeToken,
    async [Symbol.asyncDispose]() {
      await sidecar[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
