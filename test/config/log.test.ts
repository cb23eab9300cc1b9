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
import { createLog } from './src/config/log.ts'
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

test('a log line contains no secret of the settings and no part of a database URL with its password', async () => {
  const urls = [
    [SECRETS.storeUrl, PASSWORD, 'p%40ssword'],
    [BROKEN, '50%-of-it', '50%25-of-it'],
  ] as const
  for (const [storeUrl, ...parts] of urls) {
    const given = { ...SECRETS, storeUrl }
    const args = ['--input-type=module', '-e', programWith(given)]
    const { code, stderr } = await run(process.execPath, args)
    expect(code, stderr).toBe(0)
    expect(stderr.trim().split('\n')).toHaveLength(Object.keys(SECRETS).length + 1)
    for (const secret of [...Object.values(given), ...parts]) expect(stderr).not.toContain(secret)
  }
})
