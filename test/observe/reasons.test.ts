/** Each reason of `/readyz` comes up when it should, wherever one looks, and goes by itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'

const WITHIN_MS = 90_000
const folder = mkdtempSync(join(tmpdir(), 'postern-reasons-'))
const tokenFile = join(folder, 'token')
const dataDir = join(folder, 'data')
const bot = { botId: 0 }

let sandbox: Sandbox
let sidecar: Sidecar
let token = ''

const start = async (): Promise<void> => {
  sidecar = await startSidecar({
    upstream: sandbox.url,
    dataDir,
    env: { POSTERN_BOT_TOKEN_FILE: tokenFile },
  })
}

beforeAll(async () => {
  sandbox = await createSandbox({ rates: 'off', data: join(folder, 'world') })
  bot.botId = sandbox.home.bot.id
  token = sandbox.token
  writeFileSync(tokenFile, token, { mode: 0o600 })
  await start()
  await sidecar.whenReady()
}, WITHIN_MS)

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** The reason is named by the probe, to machines, to people, and in the metrics. */
async function expectNamed(code: string): Promise<void> {
  await sidecar.whenReason(code)
  expect((await sidecar.readiness()).status).toBe(503)
  const status = (await (await fetch(`${sidecar.adminUrl}/status`)).json()) as {
    ready: boolean
    reasons: { code: string; hint: string }[]
  }
  expect(status).toMatchObject({ ready: false })
  expect(status.reasons).toContainEqual(expect.objectContaining({ code }))
  const shown = await sidecar.postern('status', '--ready')
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining(`  ${code}: `)])
  const metrics = await (await fetch(`${sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toContain(`postern_reason{code="${code}"} 1`)
  expect(metrics).toContain('postern_ready 0')
}

/** Nobody asks for anything: neither a bot nor an operator. */
async function expectGone(): Promise<void> {
  await sidecar.whenReady()
  expect((await sidecar.postern('status', '--ready')).code).toBe(0)
}

const cut = { name: 'cut' } as const
/** A call of the bot's. */
const ask = (path: string) =>
  sidecar.call('GET', path, undefined, { headers: { authorization: `Bearer ${token}` } })

test('upstream: a service that cuts every call', { timeout: WITHIN_MS }, async () => {
  await sandbox.control.fault(cut)
  await ask('/commands')
  await expectNamed('upstream')
  await sandbox.control.clearFaults({})
  await expectGone()
})

test('starting: a service that has never answered yet', { timeout: WITHIN_MS }, async () => {
  await sidecar.stop()
  await sandbox.control.fault(cut)
  await start()
  await expectNamed('starting')
  await sandbox.control.clearFaults({})
  await expectGone()
})

test('paused: the owner pauses the bot and resumes it', { timeout: WITHIN_MS }, async () => {
  await sandbox.control.pause(bot)
  await ask('/commands')
  await expectNamed('paused')
  await sandbox.control.resume(bot)
  await expectGone()
})

test('clock: ours and the service’s are far apart', { timeout: WITHIN_MS }, async () => {
  const date = new Date(Date.now() + 600_000).toUTCString()
  const body = '{"ok":true,"result":[]}'
  await sandbox.control.fault({ name: 'answer', status: 200, headers: { date }, body })
  await ask('/commands')
  await expectNamed('clock')
  await sandbox.control.clearFaults({})
  await expectGone()
})

test(
  'token: the owner issues another one and puts it into the file',
  {
    timeout: WITHIN_MS,
  },
  async () => {
    const issued = await sandbox.control.issueToken(bot)
    await ask('/commands')
    await expectNamed('token')
    token = issued.token
    writeFileSync(tokenFile, token)
    await expectGone()
  },
)

test('key-unpublished: the first key is not taken yet', { timeout: WITHIN_MS }, async () => {
  await using other = await createSandbox({ rates: 'off' })
  await other.control.fault({ name: 'error', route: 'putKey', status: 500, code: 'internal' })
  await using fresh = await startSidecar({
    upstream: other.url,
    env: { POSTERN_BOT_TOKEN: other.token },
  })
  await fresh.whenReason('key-unpublished')
  await other.control.clearFaults({})
  await fresh.whenReady()
})

test(
  'key-conflict: the service shows another key, and ours again',
  {
    timeout: WITHIN_MS,
  },
  async () => {
    const fingerprint = 'ab'.repeat(20)
    await sandbox.control.fault({ name: 'claim-fingerprint', ...bot, fingerprint })
    await ask('/me')
    await expectNamed('key-conflict')
    await sandbox.control.clearFaults({})
    await ask('/me')
    await expectGone()
  },
)

test(
  'bot-unprotected: the owner removes the key, and the operator publishes it again',
  {
    timeout: WITHIN_MS,
  },
  async () => {
    await sandbox.control.removeKey(bot)
    await ask('/me')
    await expectNamed('bot-unprotected')
    expect((await sidecar.postern('key', 'publish')).code).toBe(0)
    await expectGone()
  },
)
