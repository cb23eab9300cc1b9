import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { secretsLeftOut, showSettings } from '../../src/config/show.ts'
import { ENOUGH, file, folder, sources } from './support.ts'

const SECRET = 'hunter2-hunter2'

test('`config show` prints each value with its source, and no secret', () => {
  const cwd = folder()
  const configFlag = file(cwd, 'a.yaml', 'listen:\n  port: 5\n')
  file(cwd, 'client', SECRET)
  const env = {
    ...ENOUGH,
    POSTERN_BOT_TOKEN: SECRET,
    POSTERN_KEY_PASSPHRASE: SECRET,
    POSTERN_BOT_CLIENT_TOKEN_FILE: 'client',
    HTTPS_PROXY: `http://person:${SECRET}@proxy:3128`,
  }
  const text = showSettings(load(sources({ cwd, configFlag, env, flags: { 'admin-port': '6' } })))
  expect(text).not.toContain(SECRET)
  const lines = text.split('\n').map((line) => line.trim())
  expect(lines).toEqual(
    expect.arrayContaining([
      'port: 5 # a.yaml:2:9',
      'port: 6 # --admin-port',
      'url: https://api.example.org # POSTERN_UPSTREAM_URL',
      'publish: true # default',
      '# token: set, from POSTERN_BOT_TOKEN',
      '# clientToken: set, from POSTERN_BOT_CLIENT_TOKEN_FILE',
      '# rotateEveryDays: not set',
      '# HTTPS_PROXY: http://[secret]@proxy:3128',
    ]),
  )
  for (const { path } of SETTINGS) expect(text).toContain(`${path.split('.').at(-1)}:`)
})

test('`config show` prints a settings file with the same meaning', () => {
  const cwd = folder()
  const env = { ...ENOUGH, POSTERN_LISTEN_ALLOWED_HOSTS: 'a,b', POSTERN_DATA_DIR: '/d: #x' }
  const first = load(sources({ cwd, env }))
  const configFlag = file(cwd, 'shown.yaml', showSettings(first))
  const { POSTERN_BOT_TOKEN, POSTERN_KEY_PASSPHRASE } = ENOUGH
  const secrets = { POSTERN_BOT_TOKEN, POSTERN_KEY_PASSPHRASE }
  expect(load(sources({ cwd, configFlag, env: secrets })).settings).toEqual(first.settings)
})

test('`config show` names the files of secrets', () => {
  const cwd = folder()
  const env = {
    POSTERN_UPSTREAM_URL: 'https://api.example.org',
    POSTERN_BOT_TOKEN_FILE: file(cwd, 'token', SECRET),
    POSTERN_KEY_PASSPHRASE_FILE: file(cwd, 'passphrase', SECRET),
  }
  const first = load(sources({ cwd, env }))
  expect([...secretsLeftOut(first)]).toEqual([])
  const configFlag = file(cwd, 'shown.yaml', showSettings(first))
  const second = load(sources({ cwd, configFlag, env: {} }))
  expect(second.settings).toEqual(first.settings)
  expect(second.secrets.botToken.file).toBe(first.secrets.botToken.file)
  expect(second.secrets.passphrase?.reveal()).toBe(SECRET)
})

test('a secret given by value is listed as left out, with its source', () => {
  const loaded = load(sources({ cwd: folder() }))
  expect([...secretsLeftOut(loaded)]).toEqual([
    ['bot.token', 'POSTERN_BOT_TOKEN'],
    ['key.passphrase', 'POSTERN_KEY_PASSPHRASE'],
  ])
})

test('`config show` prints no default that depends on the terminal', () => {
  const shown = showSettings(load(sources({ cwd: folder(), terminal: true })))
  expect(shown).toContain('# pretty: not set')
})
