import { mkdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { loadDataDir } from '../../src/config/store-access.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

describe('what counts', () => {
  test('a flag counts over the environment, that over the file, that over the default', () => {
    const cwd = folder()
    const configFlag = file(
      cwd,
      'a.yaml',
      'listen: {port: 1}\nadmin: {port: 2}\ncache: {chatSeconds: 3}\n',
    )
    const env = { ...ENOUGH, POSTERN_LISTEN_PORT: '11', POSTERN_ADMIN_PORT: '12' }
    const flags = { 'listen-port': '21' }
    const { settings } = load(sources({ cwd, configFlag, env, flags }))
    expect(settings.listen.port).toBe(21)
    expect(settings.admin.port).toBe(12)
    expect(settings.cache).toEqual({ chatSeconds: 3, keyListSeconds: 60 })
  })

  test('defaults are those of the table when only what is required is given', () => {
    const { settings, secrets, origins } = load(sources())
    expect(settings).toEqual({
      upstream: { url: 'https://api.example.org', allowHttp: false, proxy: {} },
      listen: { host: '127.0.0.1', port: 8700, allowedHosts: [] },
      admin: { host: '127.0.0.1', port: 8701, updatesWaiting: 'warn', readyWhen: 'all' },
      dataDir: '/nowhere/.postern',
      store: { schema: 'postern' },
      key: { protection: 'auto', publish: true, algorithm: 'classic', retainDays: 30 },
      seal: { unusableRecipient: 'skip' },
      open: { verify: 'flag', audience: 'check', normalizeText: true },
      openpgp: { engine: 'native', check: 'sample' },
      trust: { policy: 'accept', continuity: false, authorities: [] },
      alert: {},
      readableGroups: 'allow',
      clearFields: 'warn',
      clients: { only: false, list: [] },
      consumers: [],
      approve: [],
      outbox: { updates: false, maxAgeHours: 72 },
      routes: { allowUnknown: false },
      webhook: {},
      cache: { keyListSeconds: 60, chatSeconds: 60 },
      log: { level: 'info', ids: 'plain', pretty: false },
      traces: { ids: 'hash', target: null },
    })
    expect(secrets.clientToken).toBeNull()
    expect(origins.get('upstream.url')).toBe('POSTERN_UPSTREAM_URL')
    expect(origins.has('listen.port')).toBe(false)
  })

  test('a wrong value is refused even where another one counts', () => {
    const env = { ...ENOUGH, POSTERN_LISTEN_PORT: 'many' }
    const error = refusalOf(() => load(sources({ env, flags: { 'listen-port': '21' } })))
    expect(error.message).toContain('POSTERN_LISTEN_PORT listen.port: expected a whole number')
  })

  test('lines for people are the default on a terminal, and what was set counts over it', () => {
    expect(load(sources({ terminal: true })).settings.log.pretty).toBe(true)
    const env = { ...ENOUGH, POSTERN_LOG_PRETTY: 'false' }
    expect(load(sources({ terminal: true, env })).settings.log.pretty).toBe(false)
  })
})

describe('which file is read', () => {
  test('config/postern.yaml when it is there and no other is named', () => {
    const cwd = folder()
    mkdirSync(`${cwd}/config`)
    file(cwd, 'config/postern.yaml', 'dataDir: here\n')
    expect(load(sources({ cwd })).settings.dataDir).toBe(`${cwd}/here`)
    file(cwd, 'b.yaml', 'dataDir: named\n')
    const env = { ...ENOUGH, POSTERN_CONFIG: 'b.yaml' }
    expect(load(sources({ cwd, env })).settings.dataDir).toBe(`${cwd}/named`)
    file(cwd, 'c.yaml', 'dataDir: flagged\n')
    const flagged = load(sources({ cwd, env, configFlag: 'c.yaml' }))
    expect(flagged.settings.dataDir).toBe(`${cwd}/flagged`)
  })

  test('a file that is named and not there is refused', () => {
    const error = refusalOf(() => load(sources({ cwd: folder(), configFlag: 'gone.yaml' })))
    expect(error.message).toContain('gone.yaml: there is no such file')
  })
})

describe('how values are written in the environment', () => {
  const read = (env: Record<string, string>) =>
    load(sources({ env: { ...ENOUGH, ...env } })).settings

  test('lists are separated by commas, and an empty one is empty', () => {
    const name = 'POSTERN_LISTEN_ALLOWED_HOSTS'
    expect(read({ [name]: 'sidecar, bot.internal' }).listen.allowedHosts).toEqual([
      'sidecar',
      'bot.internal',
    ])
    expect(read({ [name]: '' }).listen.allowedHosts).toEqual([])
  })

  test.each(['yes', '1', 'TRUE', ''])('a boolean is true or false, not %j', (text) => {
    const error = refusalOf(() => read({ POSTERN_KEY_PUBLISH: text }))
    expect(error.message).toContain('POSTERN_KEY_PUBLISH key.publish: expected true or false')
  })

  test.each(['', ' 1', '0x10', '1e3', '1.5', '-1', '65536', '9007199254740993'])(
    'a port is a whole number in range, not %j',
    (text) => {
      const error = refusalOf(() => read({ POSTERN_LISTEN_PORT: text }))
      expect(error.message).toContain('expected a whole number from 0 to 65535')
    },
  )

  test('proxies come from their usual variables, lower case first, empty ones not', () => {
    const settings = read({
      HTTPS_PROXY: 'http://upper:1',
      https_proxy: 'http://lower:1',
      HTTP_PROXY: '',
      NO_PROXY: 'localhost,.internal',
    })
    expect(settings.upstream.proxy).toEqual({
      httpsProxy: 'http://lower:1',
      noProxy: 'localhost,.internal',
    })
  })

  test('a proxy that is no URL is refused by its name', () => {
    const error = refusalOf(() => read({ HTTPS_PROXY: 'person:hunter2@proxy' }))
    expect(error.message).toContain('HTTPS_PROXY: expected the URL of a proxy')
    expect(error.message).not.toContain('hunter2')
  })
})

describe('where a running sidecar is looked for', () => {
  test('dataDir is found although nothing else is set', () => {
    const cwd = folder()
    expect(loadDataDir(sources({ cwd, env: {} }))).toBe(`${cwd}/.postern`)
    expect(loadDataDir(sources({ cwd, env: { POSTERN_DATA_DIR: '/d' } }))).toBe('/d')
  })

  test('what is wrong is refused here too', () => {
    const env = { POSTERN_DATA_DIRR: '/d' }
    expect(refusalOf(() => loadDataDir(sources({ env }))).message).toContain(
      'POSTERN_DATA_DIRR: no such setting, did you mean POSTERN_DATA_DIR?',
    )
  })
})
