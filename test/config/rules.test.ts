import { execFileSync } from '../support/programs.ts'
import { mkdirSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { ENOUGH, file, folder, refusalOf, sources } from './support.ts'

const given = (env: Record<string, string>) => sources({ env: { ...ENOUGH, ...env } })
const messageOf = (env: Record<string, string>) => refusalOf(() => load(given(env))).message

test.each([
  ['https://api.example.org', 'https://api.example.org'],
  ['https://API.example.org:443/', 'https://api.example.org'],
  ['https://api.example.org:8443', 'https://api.example.org:8443'],
  ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
  ['http://localhost:9000/', 'http://localhost:9000'],
  ['http://[::1]:9000', 'http://[::1]:9000'],
  ['http://localhost:9000/worlds/one/', 'http://localhost:9000/worlds/one'],
])('the upstream URL %s is accepted as %s', (url, origin) => {
  expect(load(given({ POSTERN_UPSTREAM_URL: url })).settings.upstream.url).toBe(origin)
})

test.each([
  ['api.example.org', 'expected an http or https URL'],
  ['ftp://api.example.org', 'expected an http or https URL'],
  ['', 'expected an http or https URL'],
  ['https://u@api.example.org', 'without credentials'],
  ['https://:p@api.example.org', 'without credentials'],
  ['https://u:12/w@api.example.org', 'without credentials'],
  ['https://api.example.org/bot/v1', 'without /bot/v1'],
  ['https://api.example.org/x/bot/v1/', 'without /bot/v1'],
  ['https://api.example.org/?a=b', 'without a query'],
  ['https://api.example.org/?', 'without a query'],
  ['https://api.example.org/#', 'without a fragment'],
  ['https://u:p@api.example.org/bot?y#z', 'without credentials, /bot/v1, a query, a fragment'],
  ['http://api.example.org', 'expected https: plain http shows the token to the network'],
  ['http://127.0.0.1.example.org', 'expected https'],
  ['http://localhost.evil.example', 'expected https'],
  ['http://localhosts', 'expected https'],
  ['http://evil.localhost', 'expected https'],
  ['http://[::1:1]', 'expected https'],
  ['http://128.0.0.1', 'expected https'],
  ['http://0.0.0.0', 'expected https'],
])('the upstream URL %j is refused', (url, message) => {
  expect(messageOf({ POSTERN_UPSTREAM_URL: url })).toContain(`POSTERN_UPSTREAM_URL upstream.url: `)
  expect(messageOf({ POSTERN_UPSTREAM_URL: url })).toContain(message)
})

test('an upstream URL with plain http is accepted with `upstream.allowHttp`', () => {
  const env = { POSTERN_UPSTREAM_URL: 'http://api.local', POSTERN_UPSTREAM_ALLOW_HTTP: 'true' }
  expect(load(given(env)).settings.upstream.url).toBe('http://api.local')
})

test.each(['0.0.0.0', '::', '192.168.1.5', 'sidecar'])(
  'a listener for bots on %s requires `bot.clientToken`',
  (host) => {
    expect(messageOf({ POSTERN_LISTEN_HOST: host })).toContain(
      'POSTERN_LISTEN_HOST listen.host: expected a loopback address',
    )
    const env = { POSTERN_LISTEN_HOST: host, POSTERN_BOT_CLIENT_TOKEN: 'local' }
    expect(load(given(env)).settings.listen.host).toBe(host)
  },
)

test.each(['', 'a b', 'http://x', 'x:1', '-x'])('the host %j is refused', (host) => {
  expect(messageOf({ POSTERN_ADMIN_HOST: host })).toContain('expected an IP address or a host')
})

test('both listeners on one port are refused, except on port 0', () => {
  const env = { POSTERN_LISTEN_PORT: '7000', POSTERN_ADMIN_PORT: '7000' }
  expect(messageOf(env)).toContain('admin.port: expected another port than that of listen.port')
  expect(messageOf({ POSTERN_ADMIN_PORT: '8700' })).toContain('expected another port')
  expect(
    load(given({ POSTERN_LISTEN_PORT: '0', POSTERN_ADMIN_PORT: '0' })).settings.admin.port,
  ).toBe(0)
})

test('a socket path longer than 107 bytes is refused', () => {
  const message = messageOf({ POSTERN_LISTEN_SOCKET: `/${'s'.repeat(107)}` })
  expect(message).toContain('listen.socket: expected at most 107 bytes')
})

const days = (every: string, retain: string) => ({
  POSTERN_KEY_ROTATE_EVERY_DAYS: every,
  POSTERN_KEY_RETAIN_DAYS: retain,
})

test('`key.retainDays` below four is refused', () => {
  expect(messageOf({ POSTERN_KEY_RETAIN_DAYS: '3' })).toContain('a whole number from 4 to 36500')
})

test.each([
  ['90', '30'],
  ['1', '30'],
  ['1', '4'],
  ['13', '365'],
])('a rotation every %s days with keys kept for %s is accepted', (every, retain) => {
  const { key } = load(given(days(every, retain))).settings
  expect([key.rotateEveryDays, key.retainDays]).toEqual([Number(every), Number(retain)])
})

test.each([
  ['1', '31', '2'],
  ['12', '365', '13'],
])(
  'a rotation every %s days with keys kept for %s is refused as too many keys',
  (every, retain, least) => {
    expect(messageOf(days(every, retain))).toContain(
      `key.rotateEveryDays: expected at least ${least}, since old keys open for ${retain} days`,
    )
  },
)

const { POSTERN_KEY_PASSPHRASE: _passphrase, ...bare } = ENOUGH

test('a missing passphrase is refused with commands that make one outside dataDir', () => {
  const home = folder()
  const error = refusalOf(() => load(sources({ env: bare, home })))
  expect(error.message).toContain('key.passphrase: is required')
  const commands = error.hint.split('\n').filter((line) => line.startsWith('  '))
  const script = [...commands, 'printf %s "$POSTERN_KEY_PASSPHRASE_FILE"'].join('\n')
  const path = execFileSync('sh', ['-euc', script], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin' },
  })
  expect(path).toBe(`${home}/.config/postern/passphrase`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const loaded = load(sources({ env: { ...bare, POSTERN_KEY_PASSPHRASE_FILE: path }, home }))
  expect(loaded.secrets.passphrase?.reveal()).toHaveLength(44)
})

test('the passphrase file is proposed outside dataDir', () => {
  const env = { ...bare, POSTERN_DATA_DIR: '/home/person/.config' }
  const { hint } = refusalOf(() => load(sources({ env })))
  expect(hint).toContain('/home/person/.postern-secrets/passphrase')
})

test('a home folder with quotes in its name is quoted in the proposed commands', () => {
  const home = `${folder()}/o'clock $HOME`
  mkdirSync(home)
  const { hint } = refusalOf(() => load(sources({ env: bare, home })))
  const commands = hint.split('\n').filter((line) => line.startsWith('  '))
  execFileSync('sh', ['-euc', commands.join('\n')], { env: { PATH: '/bin:/usr/bin' } })
  expect(statSync(`${home}/.config/postern/passphrase`).isFile()).toBe(true)
})

test('`auto` requires no passphrase where a keychain or a store exists', () => {
  expect(load(sources({ env: bare, mayHaveKeychain: true })).secrets.passphrase).toBeNull()
  const dataDir = folder()
  file(dataDir, 'postern.db', '')
  const env = { ...bare, POSTERN_DATA_DIR: dataDir }
  expect(load(sources({ env })).secrets.passphrase).toBeNull()
})

test.each([
  ['passphrase', true],
  ['auto', false],
])(
  'the protection `%s` requires a passphrase, with a keychain: %s',
  (protection, mayHaveKeychain) => {
    const env = { ...bare, POSTERN_KEY_PROTECTION: protection }
    const error = refusalOf(() => load(sources({ env, mayHaveKeychain })))
    expect(error.message).toContain('key.passphrase: is required')
  },
)

test.each(['keychain', 'none', '{"exec":["age.sh"]}'])(
  'the protection `%s` requires no passphrase',
  (protection) => {
    const env = { ...bare, POSTERN_KEY_PROTECTION: protection }
    expect(load(sources({ env })).secrets.passphrase).toBeNull()
  },
)

test('a sidecar that publishes no key requires no passphrase', () => {
  const env = { ...bare, POSTERN_KEY_PUBLISH: 'false' }
  expect(load(sources({ env })).secrets.passphrase).toBeNull()
})

const scene = () => {
  const cwd = folder()
  const cert = file(cwd, 'door.crt', '-----BEGIN CERTIFICATE-----\n')
  const key = file(cwd, 'door.key', 'a key\n')
  return {
    cwd,
    cert,
    key,
    env: { POSTERN_LISTEN_TLS_CERT_FILE: cert, POSTERN_LISTEN_TLS_KEY_FILE: key },
  }
}

test('a listener with TLS and a client CA requires no client token beyond loopback', () => {
  const { cert, key, env } = scene()
  const more = { POSTERN_LISTEN_TLS_CLIENT_CA_FILE: cert, POSTERN_LISTEN_HOST: '0.0.0.0' }
  const { listen } = load(given({ ...env, ...more })).settings
  expect(listen).toMatchObject({ tlsCertFile: cert, tlsKeyFile: key, tlsClientCaFile: cert })
})

test.each([
  ['CERT', {}, 'listen.tlsCertFile: expected with listen.tlsKeyFile'],
  ['KEY', {}, 'listen.tlsKeyFile: expected with listen.tlsCertFile'],
  ['CLIENT_CA', {}, 'listen.tlsClientCaFile: expected with listen.tlsCertFile'],
  ['both', { POSTERN_LISTEN_SOCKET: '/run/x' }, 'listen.socket: expected without listen.tls'],
])('a listener with %s of its TLS files, or with a socket, is refused', (name, more, message) => {
  const { cert, env } = scene()
  const one = name === 'both' ? env : { [`POSTERN_LISTEN_TLS_${name}_FILE`]: cert }
  expect(messageOf({ ...one, ...more })).toContain(message)
})

test('a listener with invalid TLS files or a readable key is refused', () => {
  const { cwd, key, env } = scene()
  const open = file(cwd, 'open.key', 'a key\n', 0o644)
  const none = `${cwd}/none`
  for (const [wrong, message] of [
    [{ POSTERN_LISTEN_TLS_CERT_FILE: key }, 'tlsCertFile: '],
    [{ POSTERN_LISTEN_TLS_CLIENT_CA_FILE: key }, 'expected certificates in PEM'],
    [{ POSTERN_LISTEN_TLS_KEY_FILE: none }, 'none: '],
    [{ POSTERN_LISTEN_TLS_KEY_FILE: open }, 'others can read it'],
  ] as const) {
    expect(messageOf({ ...env, ...wrong })).toContain(message)
  }
})

test('`upstream.caFile` must exist and contain certificates', () => {
  const cwd = folder()
  const wrong = file(cwd, 'wrong.pem', 'nothing')
  const right = file(cwd, 'right.pem', '-----BEGIN CERTIFICATE-----\n')
  expect(messageOf({ POSTERN_UPSTREAM_CA_FILE: '/nowhere/ca.pem' })).toContain(
    '/nowhere/ca.pem: there is no such file',
  )
  expect(messageOf({ POSTERN_UPSTREAM_CA_FILE: wrong })).toContain('expected certificates in PEM')
  expect(load(given({ POSTERN_UPSTREAM_CA_FILE: right })).settings.upstream.caFile).toBe(right)
})
