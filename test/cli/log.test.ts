/** What the log of `postern run` keeps to itself, whatever is handed to it. */
import { expect, test } from 'vitest'
import { run } from '../support/programs.ts'

const SECRETS = {
  botToken: 'token-of-the-bot',
  clientToken: 'token-of-the-client',
  passphrase: 'some passphrase',
  alertUrl: 'https://alerts.example.org/path-of-alerts',
  storeUrl: 'postgres://postern:p%40ssword-of-store@db.example.org/postern',
}
const PASSWORD = 'p@ssword-of-store'
/** Is no encoding, and would be refused when the database is opened. */
const BROKEN = 'postgres://postern:50%-of-it@db.example.org/postern'

const programWith = (given: object) => `
import { createLog } from './src/cli/log.ts'
import { SecretSource } from './src/config/secrets.ts'
import { settingsFrom } from './src/config/settings.ts'
const values = ${JSON.stringify(given)}
const secrets = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [name, SecretSource.fromValue(value, 'passphrase')]),
)
const settings = settingsFrom({ upstream: { url: 'https://chat.example.org' }, dataDir: '/tmp' })
const log = createLog({ settings, secrets, origins: new Map() })
for (const value of [...Object.values(values), ${JSON.stringify(PASSWORD)}]) {
  log.info({ value }, 'with ' + value)
}
`

/** What is logged with these secrets when each is handed to the log. */
async function logOf(given: object): Promise<string> {
  const program = programWith(given)
  const { code, stderr } = await run(process.execPath, ['--input-type=module', '-e', program])
  expect(code, stderr).toBe(0)
  return stderr
}

test('a log line contains no secret of the settings and no password of the database URL', async () => {
  const stderr = await logOf(SECRETS)
  expect(stderr.trim().split('\n')).toHaveLength(Object.keys(SECRETS).length + 1)
  for (const secret of [...Object.values(SECRETS), PASSWORD, 'p%40ssword']) {
    expect(stderr).not.toContain(secret)
  }
})

test('a malformed database URL is redacted from the log', async () => {
  const stderr = await logOf({ ...SECRETS, storeUrl: BROKEN })
  for (const part of [BROKEN, '50%-of-it', '50%25-of-it']) expect(stderr).not.toContain(part)
})
