import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createServer } from 'node:https'
import { createServer as createPlainServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dataFolder } from '../support.ts'
import { checkKey } from '../../../src/operators/doctor/check-key.ts'
import { checkFolder } from '../../../src/operators/doctor/check-folder.ts'
import { checkService, type ServiceParts } from '../../../src/operators/doctor/check-service.ts'
import { checkTls } from '../../../src/operators/doctor/check-tls.ts'
import type { Bot } from '../../../src/api/bot.ts'
import { LIMITS } from '../../../src/api/limits.ts'
import { NoResponseError } from '../../../src/errors.ts'
import { DoubleWorld } from '../../support/double-world.ts'
import { useStage } from '../../support/double-stage.ts'
import { UNDER_PASSPHRASE } from '../../support/sidecar.ts'
import { Authority, type Identity } from '../../service/certificates.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0', ...UNDER_PASSPHRASE } })
const authority = new Authority()
const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
})

interface Line {
  name: string
  level: string
  message: string
  hint?: string
}

async function doctor(expectedCode = 0, ...flags: string[]): Promise<Map<string, Line>> {
  const { code, stdout, stderr } = await stage.sidecar.postern('check', '--json', ...flags)
  expect(code, stderr + stdout).toBe(expectedCode)
  return new Map((JSON.parse(stdout) as Line[]).map((line) => [line.name, line]))
}

test('a healthy sidecar passes every check', async () => {
  const lines = await doctor()
  // Whether this machine keeps core dumps is its own matter.
  lines.delete('core dumps')
  const names = ['data folder', 'disk', 'store', 'tls', 'upstream', 'token', 'status', 'clock']
  const more = ['sidecar', 'protection', 'webhook', 'limits', 'capacity', 'key', 'key age', 'trust']
  expect([...lines.keys()].sort()).toEqual([...names, ...more].sort())
  for (const [name, line] of lines) expect(line.level, name).toBe('pass')
  expect(lines.get('capacity')?.message).toMatch(
    /fits for \d+ people with Curve25519 keys.* \d+ with ML-KEM-768\+X25519; the longest, of 12288 bytes, for/,
  )
})

test('people awaiting approval are a warning with the command for it', async () => {
  const person = await stage.friend()
  expect((await stage.send(stage.group([person]), 'hello')).status).toBe(201)
  await stage.sidecar.postern('trust', 'policy', 'pinned')
  const line = (await doctor()).get('trust')
  expect(line).toMatchObject({ level: 'warn' })
  expect(line?.message).toContain('1 of them await')
  expect(line?.hint).toContain('postern trust accept')
})

test('a foreign key at the service fails the check of the key and the command', async () => {
  const { world } = stage.double
  const { fingerprint } = world.bot
  world.bot = { ...world.bot, fingerprint: 'AB'.repeat(20) }
  expect((await doctor(1)).get('key')).toMatchObject({ level: 'fail' })
  world.bot = { ...world.bot, fingerprint }
})

describe('`checkKey`', () => {
  const DAY_MS = 86_400_000
  const OURS = 'a'.repeat(40)
  const { bot } = new DoubleWorld()
  const look = (more: object, pending?: { fingerprint: string }) => {
    const active = { fingerprint: OURS, createdAtMs: Date.now(), endsMs: Infinity, ...more }
    return checkKey({ ...bot, fingerprint: OURS } as Bot, {
      managesKey: true,
      rotateEveryDays: undefined,
      keys: { active, pending, all: [active] },
    })
  }

  test('a published key that is not expired passes', () => {
    expect(look({}).map(({ level }) => level)).toEqual(['pass', 'pass'])
    const [, age] = look({ endsMs: Date.now() + 40 * DAY_MS })
    expect(age).toMatchObject({ level: 'pass' })
    expect(age?.message).toMatch(/expires on \d{4}-\d\d-\d\d$/)
  })

  test.each([
    ['expires within a month', { endsMs: Date.now() + 29 * DAY_MS }, 'warn'],
    ['has expired', { endsMs: Date.now() - 1 }, 'fail'],
    ['is old', { createdAtMs: Date.now() - 800 * DAY_MS }, 'warn'],
  ])('a key that %s is reported with a hint to rotate', (_what, more, level) => {
    const [, age] = look(more)
    expect(age).toMatchObject({ name: 'key age', level })
    expect(age?.hint).toContain('rotate')
  })

  test('a pending key beside the published key is a warning', () => {
    const [key] = look({}, { fingerprint: 'b'.repeat(40) })
    expect(key).toMatchObject({ name: 'key', level: 'warn' })
    expect(key?.hint).toContain('--watch')
  })
})

describe('`checkService`', () => {
  const failing = async (detail: string, more: Partial<ServiceParts> = {}) => {
    const code = detail.startsWith('E')
      ? 'postern_upstream_unreachable'
      : 'postern_upstream_invalid'
    const { bot, lines } = await checkService({
      me: () => Promise.reject(new NoResponseError(code, detail)),
      limits: () => LIMITS,
      skewMs: () => null,
      upstreamUrl: 'https://chat.example.org:8443/api',
      isProxied: false,
      managesKey: true,
      ...more,
    })
    expect([bot, lines.length]).toEqual([null, 1])
    return lines[0]
  }

  const elsewhere = /getent hosts chat\.example\.org/
  test.each([
    ['ENOTFOUND', {}, 'dns', /chat\.example\.org does not resolve \(ENOTFOUND\)/, elsewhere],
    ['ENOTFOUND', { isProxied: true }, 'dns', /./, /^check HTTPS_PROXY and HTTP_PROXY$/],
    ['no envelope in HTTP 404', {}, 'service', /\(no envelope in HTTP 404\)/, /of upstream\.url/],
    ['ECONNREFUSED', {}, 'upstream', /^nothing listens at chat\.example\.org:8443 \(/, /./],
    ['ECONNRESET', {}, 'upstream', /^https:.*: ECONNRESET$/, /./],
  ])(
    'the failure %s of a service %j fails the check `%s`',
    async (detail, more, name, message, hint) => {
      const line = await failing(detail, more)
      expect(line).toMatchObject({ name, level: 'fail' })
      expect(line?.message).toMatch(message)
      expect(line?.hint).toMatch(hint)
    },
  )
})

describe('`check` beside a running sidecar', () => {
  test('`check` with other settings tests these settings, and the sidecar tests the store', async () => {
    const lines = await doctor(1, '--upstream-url', 'http://127.0.0.1:1')
    expect(lines.get('upstream')).toMatchObject({ level: 'fail' })
    expect(lines.get('sidecar')?.message).toContain('was asked about the store')
    expect(lines.get('key')).toMatchObject({ level: 'pass' })
  })
})

describe('`checkFolder`', () => {
  test('a data folder or file that others can read fails with the command for it', async () => {
    const folder = dataFolder()
    chmodSync(folder, 0o755)
    const [wide] = await checkFolder(folder)
    expect(wide).toMatchObject({ level: 'fail', hint: `chmod -R go= ${folder}` })
    chmodSync(folder, 0o700)
    writeFileSync(join(folder, 'copy.db'), '', { mode: 0o644 })
    const [file] = await checkFolder(folder)
    expect(file?.message).toContain('copy.db')
  })
})

describe('`checkTls`', () => {
  let ports: { good: number; ending: number; expired: number }
  const folder = mkdtempSync(join(tmpdir(), 'postern-doctor-'))
  const caFile = join(folder, 'authority-of-the-doctor.pem')
  closing.push(() => rmSync(folder, { recursive: true }))
  const serve = async (identity: Identity): Promise<number> => {
    const server = createServer(identity).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }
  const day = (days: number): string =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
  beforeAll(async () => {
    writeFileSync(caFile, authority.cert)
    ports = {
      good: await serve(authority.issue('IP:127.0.0.1')),
      ending: await serve(authority.issue('IP:127.0.0.1', ['20200101', day(5)])),
      expired: await serve(authority.issue('IP:127.0.0.1', ['20200101', '20210101'])),
    }
  })
  const look = (port: number) => checkTls(`https://127.0.0.1:${port}`, { caFile, isProxied: false })

  test('a valid certificate passes, and one that expires soon is a warning', async () => {
    expect(await look(ports.good)).toMatchObject([{ level: 'pass' }])
    expect(await look(ports.ending)).toMatchObject([{ level: 'warn' }])
  })

  test('an expired certificate and one of an unknown authority fail', async () => {
    const message = expect.stringContaining('CERT_HAS_EXPIRED')
    expect(await look(ports.expired)).toMatchObject([{ level: 'fail', message }])
    const unknown = await checkTls(`https://127.0.0.1:${ports.good}`, {
      caFile: undefined,
      isProxied: false,
    })
    expect(unknown).toMatchObject([{ level: 'fail' }])
  })

  test('a port without TLS fails, and a port without listener is left to another check', async () => {
    expect(await look(1)).toEqual([])
    const plain = createPlainServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await once(plain.listen(0, '127.0.0.1'), 'listening')
    closing.push(() => plain.close())
    expect(await look((plain.address() as AddressInfo).port)).toMatchObject([
      { level: 'fail', hint: 'check scheme and port of upstream.url' },
    ])
  })
})
