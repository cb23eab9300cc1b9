import { mkdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { loadDataDir } from '../../src/config/store-access.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

describe('precedence', () => {
  test('a flag overrides the environment, the environment the file, and the file the default', () => {
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

  test('an invalid value is refused even where another source overrides it', () => {
    const env = { ...ENOUGH, POSTERN_LISTEN_PORT: 'many' }
    const error = refusalOf(() => load(sources({ env, flags: { 'listen-port': '21' } })))
    expect(error.message).toContain('POSTERN_LISTEN_PORT listen.port: expected a whole number')
  })

  test('`log.pretty` is the default on a terminal, and may be switched off', () => {
    expect(load(sources({ terminal: true })).settings.log.pretty).toBe(true)
    const env = { ...ENOUGH, POSTERN_LOG_PRETTY: 'false' }
    expect(load(sources({ terminal: true, env })).settings.log.pretty).toBe(false)
  })
})

describe('the settings file', () => {
  test('config/postern.yaml is read by default, POSTERN_CONFIG overrides it, and --config both', () => {
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

  test('a settings file that is named and missing is refused', () => {
    const error = refusalOf(() => load(sources({ cwd: folder(), configFlag: 'gone.yaml' })))
    expect(error.message).toContain('gone.yaml: there is no such file')
  })
})

describe('values in the environment', () => {
  const read = (env: Record<string, string>) =>
    load(sources({ env: { ...ENOUGH, ...env } })).settings

  test('a list in the environment is separated by commas', () => {
    const name = 'POSTERN_LISTEN_ALLOWED_HOSTS'
    expect(read({ [name]: 'sidecar, bot.internal' }).listen.allowedHosts).toEqual([
      'sidecar',
      'bot.internal',
    ])
    expect(read({ [name]: '' }).listen.allowedHosts).toEqual([])
  })

  test.each(['yes', '1', 'TRUE', ''])(
    'a boolean in the environment is true or false, and %j is refused',
    (text) => {
      const error = refusalOf(() => read({ POSTERN_KEY_PUBLISH: text }))
      expect(error.message).toContain('POSTERN_KEY_PUBLISH key.publish: expected true or false')
    },
  )

  test.each(['', ' 1', '0x10', '1e3', '1.5', '-1', '65536', '9007199254740993'])(
    'a port in the environment is a whole number in range, and %j is refused',
    (text) => {
      const error = refusalOf(() => read({ POSTERN_LISTEN_PORT: text }))
      expect(error.message).toContain('expected a whole number from 0 to 65535')
    },
  )

  test('proxies are read from their usual variables, lower case first', () => {
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

  test.each(['person:hunter2@proxy', 'http://person:h@ss/hunter2@proxy', 'http://proxy/#hunter2'])(
    'the proxy URL %s is refused by the name of its variable',
    (url) => {
      const error = refusalOf(() => read({ HTTPS_PROXY: url }))
      expect(error.message).toContain('HTTPS_PROXY: expected the URL of a proxy')
      expect(error.message).not.toContain('hunter2')
    },
  )
})

describe('`loadDataDir`', () => {
  test('`loadDataDir` needs no other setting', () => {
    const cwd = folder()
    expect(loadDataDir(sources({ cwd, env: {} }))).toBe(`${cwd}/.postern`)
    expect(loadDataDir(sources({ cwd, env: { POSTERN_DATA_DIR: '/d' } }))).toBe('/d')
  })
})
