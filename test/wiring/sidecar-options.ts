import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { watchedLog } from '../support/watched-log.ts'
import { temporary } from '../store/support.ts'

/** What a whole sidecar before a service is made of, on free ports and without a passphrase. */
export const sidecarOptions = ({ url, token }: { url: string; token: string }) => ({
  settings: settingsFrom({
    upstream: { url },
    listen: { port: 0 },
    admin: { port: 0 },
    dataDir: temporary(),
    key: { protection: 'none' },
  }),
  secrets: { botToken: SecretSource.fromValue(token), clientToken: null, passphrase: null },
  log: watchedLog(),
})
