import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { nearestName, withGroups } from '../../src/config/problems.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

test.each([
  ['upstrem', 'upstream'],
  ['lisen', 'listen'],
  ['url', 'upstream.url'],
  ['tokenFile', 'bot.tokenFile'],
  ['listn.port', 'listen.port'],
  ['server.socket', 'listen.socket'],
  ['key.passfraseFile', 'key.passphraseFile'],
  ['nothing like it', undefined],
  ['', undefined],
])('the nearest name of a setting `%s` is %s', (written, nearest) => {
  const paths = SETTINGS.map(({ path }) => path)
  expect(nearestName(written, withGroups(paths))).toBe(nearest)
})

test('every invalid setting is reported with place, expectation and nearest name', () => {
  const cwd = folder()
  const configFlag = file(
    cwd,
    'postern.yaml',
    [
      'upstream:',
      '  ulr: https://api.example.org',
      'listen:',
      '  port: "8700"',
      '  host: 0.0.0.0',
      'key: [1, 2]',
      'trust: {policy: pined}',
      'log:',
      '  level: inf',
      'port: 1',
    ].join('\n'),
  )
  const env = { POSTERN_LISTEN_PROT: '1', POSTERN_BOT_TOKEN: 'two words' }
  const flags = { 'admin-port': 'x' }
  const error = refusalOf(() => load(sources({ cwd, configFlag, env, flags })))
  expect(error.code).toBe('settings')
  expect(error.exitCode).toBe(2)
  const lines = error.message.split('\n').slice(1)
  expect(lines.map((line) => line.trim()).sort()).toEqual(
    [
      'postern.yaml:2:3 upstream.ulr: no such setting, did you mean upstream.url?',
      'postern.yaml:4:9 listen.port: expected a whole number from 0 to 65535 (0 takes any free port)',
      'postern.yaml:5:9 listen.host: expected a loopback address, since bot.clientToken is not set',
      'postern.yaml:6:6 key: expected a group of settings',
      'postern.yaml:7:17 trust.policy: expected one of accept, first-use, pinned, did you mean pinned?',
      'postern.yaml:9:10 log.level: expected one of trace, debug, info, warn, error, fatal, silent, did you mean info?',
      'postern.yaml:10:1 port: no such setting, did you mean listen.port?',
      'POSTERN_LISTEN_PROT: no such setting, did you mean POSTERN_LISTEN_PORT?',
      'POSTERN_BOT_TOKEN bot.token: holds a space, a line break or a character outside ASCII',
      '--admin-port admin.port: expected a whole number from 0 to 65535 (0 takes any free port)',
      'upstream.url: is required: --upstream-url or POSTERN_UPSTREAM_URL',
      'key.passphrase: is required: the secret keys are never kept without protection unless you say so',
    ].sort(),
  )
})

test('a message about settings contains no value of a setting', () => {
  const cwd = folder()
  const configFlag = file(cwd, 'a.yaml', 'bot:\n  tokne: hunter2\nlog: {level: hunter2}\n')
  const env = {
    ...ENOUGH,
    POSTERN_TOKEN: 'hunter2',
    POSTERN_UPSTREAM_URL: 'https://u:hunter2@h/hunter2?hunter2#hunter2',
  }
  const error = refusalOf(() => load(sources({ cwd, configFlag, env })))
  expect(error.message).toContain('a.yaml:2:3 bot.tokne: no such setting, did you mean bot.token?')
  expect(`${error.message} ${error.hint}`).not.toContain('hunter2')
})

test('missing settings are not reported while the file cannot be read', () => {
  const cwd = folder()
  const configFlag = file(cwd, 'a.yaml', 'upstream: [')
  const error = refusalOf(() => load(sources({ cwd, configFlag, env: {} })))
  expect(error.message).toContain('a.yaml:1:')
  expect(error.message).not.toContain('required')
})

test('a folder without any setting is reported with `init` and `demo` as first steps', () => {
  const error = refusalOf(() => load(sources({ cwd: folder(), env: {} })))
  expect(error.message).toBe('nothing is set up here yet')
  expect(
    error.hint.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' ')),
  ).toEqual([
    '`postern init`',
    '`postern demo`',
    'or set',
    'upstream.url: is',
    'bot.token: is',
    'key.passphrase: is',
  ])
  const some = refusalOf(() => load(sources({ env: { POSTERN_LISTEN_PORT: '1' } })))
  expect(some.message).toContain('the settings are refused, for 3 reasons')
})

test('the variables of a Kubernetes Service named postern are ignored', () => {
  const env = {
    ...ENOUGH,
    POSTERN_SERVICE_HOST: '10.0.0.1',
    POSTERN_SERVICE_PORT: '8700',
    POSTERN_PORT: 'tcp://10.0.0.1:8700',
    POSTERN_PORT_8700_TCP_ADDR: '10.0.0.1',
  }
  expect(load(sources({ env })).settings.listen.port).toBe(8700)
})
