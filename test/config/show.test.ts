import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { secretsLeftOut, showSettings } from '../../src/config/show.ts'
import { ENOUGH, file, folder, sources } from './support.ts'

const SECRET = 'hunter2-hunter2'

test('each value is shown with where it comes from, and no secret is', () => {
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

test('what is shown is itself a settings file that means the same', () => {
  const cwd = folder()
  const env = { ...ENOUGH, POSTERN_LISTEN_ALLOWED_HOSTS: 'a,b', POSTERN_DATA_DIR: '/d: #x' }
  const first = load(sources({ cwd, env }))
  const configFlag = file(cwd, 'shown.yaml', showSettings(first))
  const { POSTERN_BOT_TOKEN, POSTERN_KEY_PASSPHRASE } = ENOUGH
  const secrets = { POSTERN_BOT_TOKEN, POSTERN_KEY_PASSPHRASE }
  expect(load(sources({ cwd, configFlag, env: secrets })).settings).toEqual(first.settings)
})

test('what is shown names the files of secrets, and needs no variable beside it', () => {
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

test('a secret that was given itself is named as left out, with where it came from', () => {
  const loaded = load(sources({ cwd: folder() }))
  expect([...secretsLeftOut(loaded)]).toEqual([
    ['bot.token', 'POSTERN_BOT_TOKEN'],
    ['key.passphrase', 'POSTERN_KEY_PASSPHRASE'],
  ])
})

test('what follows from where it was shown is not taken along', () => {
  const shown = showSettings(load(sources({ cwd: folder(), terminal: true })))
  expect(shown).toContain('# pretty: not set')
})
