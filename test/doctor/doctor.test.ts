import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createPlainServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postern, TOKENS } from '../cli/support.ts'
import { dataFolder } from '../control/support.ts'
import { openStore } from '../../src/store/open-store.ts'
import { checkKey } from '../../src/doctor/check-key.ts'
import { checkFolder } from '../../src/doctor/check-folder.ts'
import { checkService, type ServiceParts } from '../../src/doctor/check-service.ts'
import { checkTls } from '../../src/doctor/check-tls.ts'
import type { Bot } from '../../src/api/bot.ts'
import { LIMITS } from '../../src/api/limits.ts'
import { NoResponseError } from '../../src/errors.ts'
import { DoubleWorld } from '../support/double-world.ts'
import { useStage } from '../support/double-stage.ts'
import { UNDER_PASSPHRASE } from '../support/sidecar.ts'
import { Authority, type Identity } from '../upstream/certificates.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0', ...UNDER_PASSPHRASE } })
const authority = new Authority()
const closing: (() => void)[] = []
afterAll(() => {
  for (const close of closing) close()
  rmSync(authority.folder, { recursive: true })
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

test('a healthy sidecar passes in every line', async () => {
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

test('people who wait for the operator are a warning that says how to settle it', async () => {
  const person = await stage.friend()
  expect((await stage.send(stage.group([person]), 'hello')).status).toBe(201)
  await stage.sidecar.postern('trust', 'policy', 'pinned')
  const line = (await doctor()).get('trust')
  expect(line).toMatchObject({ level: 'warn' })
  expect(line?.message).toContain('1 of them await')
  expect(line?.hint).toContain('postern trust accept')
})

test('a key at the service that is not ours fails, and so does the command', async () => {
  const { world } = stage.double
  const { fingerprint } = world.bot
  world.bot = { ...world.bot, fingerprint: 'AB'.repeat(20) }
  expect((await doctor(1)).get('key')).toMatchObject({ level: 'fail' })
  world.bot = { ...world.bot, fingerprint }
})

describe('without a sidecar', () => {
  const env = () => ({ ...TOKENS, POSTERN_UPSTREAM_URL: stage.double.url })

  test('a store that does not open is a line of its own, and the others are looked at', async () => {
    const cwd = dataFolder()
    mkdirSync(join(cwd, '.postern'), { mode: 0o700 })
    writeFileSync(join(cwd, '.postern', 'postern.db'), 'not a database at all', { mode: 0o600 })
    const { code, stdout } = await postern(['check', '--json'], { cwd, env: env() })
    expect(code).toBe(1)
    const lines = JSON.parse(stdout) as Line[]
    expect(lines.find(({ name }) => name === 'store')).toMatchObject({ level: 'fail' })
    expect(lines.some(({ name }) => name === 'upstream')).toBe(true)
  })

  test('a passphrase file inside the data folder is a warning', async () => {
    const cwd = dataFolder()
    const { POSTERN_KEY_PASSPHRASE: passphrase = '', ...rest } = env() as Record<string, string>
    mkdirSync(join(cwd, '.postern'), { mode: 0o700 })
    const file = join(cwd, '.postern', 'passphrase')
    writeFileSync(file, passphrase, { mode: 0o600 })
    const given = { cwd, env: { ...rest, POSTERN_KEY_PASSPHRASE_FILE: file } }
    const { stdout } = await postern(['check'], given)
    expect(stdout).toMatch(/^warn {2}passphrase: its file lies inside/m)
  })
})

describe('the bot’s key', () => {
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

  test('passes while the service shows it and its time is not over', () => {
    expect(look({}).map(({ level }) => level)).toEqual(['pass', 'pass'])
    const [, age] = look({ endsMs: Date.now() + 40 * DAY_MS })
    expect(age).toMatchObject({ level: 'pass' })
    expect(age?.message).toMatch(/expires on \d{4}-\d\d-\d\d$/)
  })

  test.each([
    ['ends within a month', { endsMs: Date.now() + 29 * DAY_MS }, 'warn'],
    ['has ended', { endsMs: Date.now() - 1 }, 'fail'],
    ['is old', { createdAtMs: Date.now() - 800 * DAY_MS }, 'warn'],
  ])('that %s is told, with what to do', (_what, more, level) => {
    const [, age] = look(more)
    expect(age).toMatchObject({ name: 'key age', level })
    expect(age?.hint).toContain('rotate')
  })

  test('that another waits for its publication is told, with what to do', () => {
    const [key] = look({}, { fingerprint: 'b'.repeat(40) })
    expect(key).toMatchObject({ name: 'key', level: 'warn' })
    expect(key?.hint).toContain('--watch')
  })
})

describe('where nobody usable answers', () => {
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

  test('a name that does not resolve is a finding of its own, that names it', async () => {
    const line = await failing('ENOTFOUND')
    expect(line).toMatchObject({ name: 'dns', level: 'fail' })
    expect(line?.message).toContain('chat.example.org does not resolve (ENOTFOUND)')
    expect(line?.hint).toContain('getent hosts chat.example.org')
  })

  test('through a proxy it is the proxy’s name', async () => {
    const line = await failing('ENOTFOUND', { isProxied: true })
    expect(line).toMatchObject({ name: 'dns', hint: 'check HTTPS_PROXY and HTTP_PROXY' })
  })

  test('a web server that is not the service is a finding of its own', async () => {
    const line = await failing('no envelope in HTTP 404')
    expect(line).toMatchObject({ name: 'service', level: 'fail' })
    expect(line?.message).toContain('is not the service (no envelope in HTTP 404)')
    expect(line?.hint).toContain('path of upstream.url')
  })

  test('a port at which nothing listens is named', async () => {
    const message = 'nothing listens at chat.example.org:8443 (ECONNREFUSED)'
    expect(await failing('ECONNREFUSED')).toMatchObject({ name: 'upstream', message })
  })

  test('anything else is told with its cause', async () => {
    expect((await failing('ECONNRESET'))?.message).toMatch(/^https:.*: ECONNRESET$/)
  })
})

describe('beside a running sidecar', () => {
  test('the settings that are given are examined, and the store by the sidecar', async () => {
    const lines = await doctor(1, '--upstream-url', 'http://127.0.0.1:1')
    expect(lines.get('upstream')).toMatchObject({ level: 'fail' })
    expect(lines.get('sidecar')?.message).toContain('was asked about the store')
    expect(lines.get('key')).toMatchObject({ level: 'pass' })
  })

  test('settings that are wrong are refused, and the sidecar’s own are not checked in their place', async () => {
    const { code, stdout, stderr } = await stage.sidecar.postern('check', '--listen-port', 'x')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('--listen-port listen.port: expected a whole number')
  })
})

test('a store that anybody can open who has it is a warning', async () => {
  const cwd = dataFolder()
  const dataDir = join(cwd, '.postern')
  const store = await openStore({ dataDir, protection: 'none', passphrase: null, mode: 'create' })
  await store[Symbol.asyncDispose]()
  const { POSTERN_KEY_PASSPHRASE: _, ...env } = TOKENS as Record<string, string>
  const given = { cwd, env: { ...env, POSTERN_KEY_PROTECTION: 'none' } }
  const { stdout } = await postern(['check'], given)
  expect(stdout).toMatch(/^warn {2}protection: none: whoever has /m)
  expect(stdout).toContain('postern key protect passphrase')
})

describe('the data folder', () => {
  test('for its owner alone passes, one that is not there passes, with nothing made', async () => {
    const folder = dataFolder()
    chmodSync(folder, 0o700)
    expect((await checkFolder(folder)).map(({ level }) => level)).toEqual(['pass', 'pass'])
    expect(await checkFolder(join(folder, 'none'))).toMatchObject([{ level: 'pass' }])
  })

  test('fails when others can look into it or into a file in it, and says what to run', async () => {
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

describe('the service’s TLS certificate', () => {
  let ports: { good: number; ending: number; expired: number }
  const caFile = join(authority.folder, 'authority-of-the-doctor.pem')
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
  const look = (port: number, file: string | undefined = caFile) =>
    checkTls(`https://127.0.0.1:${port}`, { caFile: file, isProxied: false })

  test('passes while it is good, and warns before it ends', async () => {
    expect(await look(ports.good)).toMatchObject([{ level: 'pass' }])
    expect(await look(ports.ending)).toMatchObject([{ level: 'warn' }])
  })

  test('fails when it ended, or nobody vouches for it', async () => {
    const message = expect.stringContaining('CERT_HAS_EXPIRED')
    expect(await look(ports.expired)).toMatchObject([{ level: 'fail', message }])
    const unknown = await checkTls(`https://127.0.0.1:${ports.good}`, {
      caFile: undefined,
      isProxied: false,
    })
    expect(unknown).toMatchObject([{ level: 'fail' }])
  })

  test('is not blamed where nobody is there, or where nothing speaks TLS', async () => {
    expect(await look(1)).toEqual([])
    const plain = createPlainServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await once(plain.listen(0, '127.0.0.1'), 'listening')
    closing.push(() => plain.close())
    expect(await look((plain.address() as AddressInfo).port)).toMatchObject([
      { level: 'fail', hint: 'check scheme and port of upstream.url' },
    ])
  })

  test('is not looked at with an authority’s file that is gone, which is named', async () => {
    const gone = join(authority.folder, 'gone.pem')
    const [line] = await look(ports.good, gone)
    expect(line).toMatchObject({ level: 'fail', message: `${gone} cannot be read (ENOENT)` })
  })
})
