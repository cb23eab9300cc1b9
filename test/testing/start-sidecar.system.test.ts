/** `postern/testing`, as the tests of a bot use it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Phone, type Sandbox } from '../../src/sandbox/index.ts'
import { startSidecar, type StartSidecarOptions } from '../../src/testing/index.ts'
import { run } from '../support/programs.ts'

/** More than a busy machine needs for a start. */
const WITHIN_MS = 50_000

let sandbox: Sandbox
let alice: Phone
let accounts = 0
beforeAll(async () => {
  sandbox = await createSandbox()
  alice = await sandbox.phone(sandbox.home.alice.id)
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** A bot of the test's own, with a private chat with alice. */
async function newBot(): Promise<{ id: number; token: string; chatId: number }> {
  const { id, token } = await sandbox.control.addBot({ username: `bot_${(accounts += 1)}` })
  const chat = await sandbox.control.addPrivateChat({ userId: alice.userId, botId: id })
  return { id, token, chatId: chat.id }
}

/** Starts a sidecar that stops with the test. */
async function start(options: Omit<StartSidecarOptions, 'upstream'> & { upstream?: string }) {
  const sidecar = await startSidecar({
    upstream: sandbox.url,
    readyWithinMs: WITHIN_MS,
    ...options,
  })
  onTestFinished(() => sidecar.stop())
  return sidecar
}

/** The error of a start that must fail. */
async function refusalOf(
  options: object,
): Promise<{ code: string; message: string; hint: string }> {
  const common = { upstream: sandbox.url, readyWithinMs: WITHIN_MS }
  const started = startSidecar({ ...common, ...options } as StartSidecarOptions)
  return await started.then(
    async (sidecar) => {
      await sidecar.stop()
      throw new Error('it started')
    },
    (error: { code: string; message: string; hint: string }) => error,
  )
}

async function call(url: string, token: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${url}/bot/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await response.json()) as Answer
}

interface Answer {
  ok: boolean
  result: { message: { text: string } }[]
  error?: { code: string }
}

/** Starts fast, since no key is made. */
const WITHOUT_KEY = { key: { publish: false } }

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'postern-start-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('`startSidecar` starts a sidecar that opens sealed messages for the bot and seals its answers', async () => {
  const { token, chatId } = await newBot()
  const { url } = await start({ token })
  await alice.write(chatId, 'open sesame')
  const { result } = await call(url, token, '/updates?timeout=5')
  expect(result[0]?.message.text).toBe('open sesame')
  await call(url, token, '/messages', { chatId, text: 'come in' })
  expect(await alice.seen(({ text }) => text === 'come in', WITHIN_MS)).toMatchObject({
    verdict: 'verified',
  })
  expect(sandbox.transcript.search('sesame')).toEqual([])
})

test('three sidecars in one process have different ports, and each serves its own bot', async () => {
  const bots = await Promise.all([newBot(), newBot(), newBot()])
  const sidecars = await Promise.all(
    bots.map(({ token }) => start({ token, settings: WITHOUT_KEY })),
  )
  const urls = sidecars.flatMap(({ url, adminUrl }) => [url, adminUrl])
  expect(new Set(urls).size).toBe(6)
  for (const [at, { url }] of sidecars.entries()) {
    const me = (await call(url, bots[at]?.token ?? '', '/me')) as unknown as { result: object }
    expect(me.result).toMatchObject({ id: bots[at]?.id })
  }
})

test('a sidecar with a `clientToken` refuses the service’s token', async () => {
  const { token } = await newBot()
  const { url } = await start({ token, clientToken: 'only-for-the-bot', settings: WITHOUT_KEY })
  expect((await call(url, 'only-for-the-bot', '/me')).ok).toBe(true)
  expect((await call(url, token, '/me')).error?.code).toBe('unauthorized')
})

test('`startSidecar` accepts `settings` in the form of a settings file', async () => {
  const { token, chatId } = await newBot()
  const { url } = await start({ token, settings: WITHOUT_KEY })
  await alice.write(chatId, 'in the clear')
  expect((await call(url, token, '/updates?timeout=5')).result[0]?.message.text).toBe(
    'in the clear',
  )
  expect(sandbox.transcript.search('in the clear')).not.toEqual([])
})

test('a second sidecar over a kept `dataDir` is ready with the same key', async () => {
  const { token } = await newBot()
  const dataDir = join(folder(), 'data')
  const first = await start({ token, dataDir })
  await first.stop()
  expect(existsSync(dataDir)).toBe(true)
  const second = await start({ token, dataDir })
  expect((await fetch(`${second.adminUrl}/readyz`)).status).toBe(200)
})

test('a kept `dataDir` opens only with the passphrase that it was created with', async () => {
  const { token } = await newBot()
  const options = { token, dataDir: join(folder(), 'data') }
  await (await start({ ...options, passphrase: 'right' })).stop()
  expect(await refusalOf({ ...options, passphrase: 'wrong' })).toMatchObject({
    code: 'store-passphrase',
  })
  await start({ ...options, passphrase: 'right' })
})

test('a sidecar with `readyWithinMs: false` starts without the service, and is ready once it answers', async () => {
  const { token, id } = await newBot()
  const fault = sandbox.fault('cut', { botId: id })
  const sidecar = await start({ token, readyWithinMs: false })
  expect((await call(sidecar.url, token, '/me')).error?.code).toBe('postern_upstream_unreachable')
  await expect(sidecar.ready(0)).rejects.toMatchObject({ name: 'NotReadyError' })
  sandbox.clearFaults(fault)
  await sidecar.ready(WITHIN_MS)
  expect((await call(sidecar.url, token, '/me')).ok).toBe(true)
})

test('a start with a refused token fails at once with the code `token`', async () => {
  const token = sandbox.token.replace(/.{6}$/, 'wrong!')
  const error = await refusalOf({ token, readyWithinMs: 3_600_000, settings: WITHOUT_KEY })
  expect(error).toMatchObject({ name: 'NotReadyError', code: 'token' })
  expect(error.message).toBe('the sidecar is not ready: the service refuses the bot’s token')
})

test('`ready` without a reachable service rejects with the code `upstream` and a hint', async () => {
  const upstream = 'http://127.0.0.1:9'
  const sidecar = await start({ upstream, token: sandbox.token, readyWithinMs: false })
  const reason = () => sidecar.ready(0).catch((error: { code: string }) => error)
  await expect
    .poll(reason)
    .toMatchObject({
      code: 'upstream',
      message: expect.stringContaining('could not be reached'),
      hint: expect.stringContaining('upstream.url'),
    })
})

test('a start that is not ready in time fails with the code `starting`', async () => {
  const upstream = 'http://127.0.0.1:9'
  const error = await refusalOf({ upstream, token: sandbox.token, readyWithinMs: 0 })
  expect(error).toMatchObject({
    name: 'NotReadyError',
    code: 'starting',
    hint: expect.stringContaining('wait'),
  })
})

test('a start for a paused bot fails with the code `paused`', async () => {
  const { token, id } = await newBot()
  await sandbox.control.pause({ botId: id })
  expect(await refusalOf({ token, settings: WITHOUT_KEY })).toMatchObject({ code: 'paused' })
})

test('a start before a sandbox with another time fails with the code `clock` and a hint', async () => {
  await using elsewhen = await createSandbox()
  await elsewhen.advance(3_600_000)
  const error = await refusalOf({ upstream: elsewhen.url, token: elsewhen.token })
  expect(error).toMatchObject({ code: 'clock', hint: expect.stringContaining('`clock`') })
})

test('a sidecar with the `clock` of a sandbox follows its advances before and after the start', async () => {
  await using elsewhen = await createSandbox()
  await elsewhen.advance(3_600_000)
  const { url: upstream, token, home } = elsewhen
  const sidecar = await start({ upstream, token, clock: elsewhen })
  const { url } = sidecar
  const bob = await elsewhen.phone(home.alice.id)
  for (const days of [0, 1, 40]) {
    await elsewhen.advance(days * 86_400_000)
    await sidecar.ready()
    await bob.write(home.privateChat, `after ${days} days`)
    const { result } = await call(url, token, '/updates?timeout=5')
    expect(result.at(-1)?.message.text).toBe(`after ${days} days`)
    await call(url, token, '/messages', { chatId: home.privateChat, text: `${days} days` })
    expect(await bob.seen(({ text }) => text === `${days} days`, WITHIN_MS)).toMatchObject({
      verdict: 'verified',
    })
  }
})

test('a start with wrong settings fails with the name and reason of each', async () => {
  const settings = { lissten: {}, open: { verify: 'no' }, key: { passphrase: 'x' }, listen: 7 }
  const error = await refusalOf({ upstream: 'nowhere', token: '', settings })
  expect(error.code).toBe('settings')
  for (const part of [
    'token: is empty',
    'upstream: expected an http or https URL',
    'lissten: no such setting',
    'open.verify: expected one of flag, require, off',
    'key.passphrase: is no setting of a sidecar in a test',
    'listen: expected a group of settings',
  ]) {
    expect(error.message).toContain(part)
  }
})

test.each([{ token: undefined }, { token: 'two words' }, { token: 'x', passphrase: '' }])(
  '`startSidecar` refuses the malformed secret of %o without repeating it',
  async (options) => {
    const error = await refusalOf(options)
    expect([error.code, error.message]).toEqual(['settings', expect.not.stringContaining('words')])
  },
)

test('a start on a port in use fails with the code `listen` and the port', async () => {
  const { token } = await newBot()
  const port = Number(new URL(sandbox.url).port)
  const error = await refusalOf({ token, settings: { ...WITHOUT_KEY, listen: { port } } })
  expect([error.code, error.message]).toEqual(['listen', expect.stringContaining(String(port))])
})

test('a start for a bot with the key of another sidecar fails with `key-conflict` and a hint', async () => {
  const { token } = await newBot()
  await start({ token })
  const error = await refusalOf({ token })
  expect(error).toMatchObject({ code: 'key-conflict', hint: expect.stringContaining('addBot') })
})

test('a stopped sidecar refuses connections, and `ready` rejects with the code `stopping`', async () => {
  const { token } = await newBot()
  const sidecar = await start({ token, settings: WITHOUT_KEY })
  await sidecar.stop()
  await sidecar.stop()
  await expect(fetch(`${sidecar.url}/bot/v1/me`)).rejects.toThrow()
  await expect(fetch(`${sidecar.adminUrl}/healthz`)).rejects.toThrow()
  await expect(sidecar.ready(60_000)).rejects.toMatchObject({ code: 'stopping' })
})

test('`stop` ends a poll under way with an empty list', async () => {
  const { token } = await newBot()
  const sidecar = await start({ token, settings: WITHOUT_KEY })
  const poll = call(sidecar.url, token, '/updates?timeout=50')
  await expect.poll(() => sandbox.transcript.search('timeout=50').length).toBe(1)
  await sidecar.stop()
  expect((await poll).result).toEqual([])
})

test('stopped sidecars leave no file, timer, listener or output, and their process ends', async () => {
  const cwd = folder()
  const temporary = join(cwd, 'tmp')
  mkdirSync(temporary)
  writeFileSync(join(cwd, 'bot.test.mjs'), SCRIPT)
  const { code, stdout, stderr } = await run(process.execPath, ['bot.test.mjs'], {
    cwd,
    env: {
      TMPDIR: temporary,
      POSTERN_TESTING: entry('testing'),
      POSTERN_SANDBOX: entry('sandbox'),
    },
  })
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(String(stdout))).toEqual({
    whileRunning: 3,
    afterwards: [],
    added: [],
    measuring: 'as after the first',
  })
  expect(readdirSync(temporary)).toEqual([])
})

const entry = (name: string): string => join(import.meta.dirname, `../../bin/${name}.cjs`)

/** A process in which three sidecars run, and one does not start. */
const SCRIPT = `
import { readdirSync } from 'node:fs'
const { createSandbox } = await import(process.env.POSTERN_SANDBOX)
const { startSidecar } = await import(process.env.POSTERN_TESTING)
const listeners = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)])
const before = JSON.stringify(listeners())
const folders = () => readdirSync(process.env.TMPDIR).filter((name) => name.startsWith('postern-'))
const sandbox = await createSandbox()
const measuring = () => process.getActiveResourcesInfo().filter((name) => /Interval|Timeout/.test(name)).length
const first = await startSidecar({ upstream: sandbox.url, token: sandbox.token, settings: { key: { publish: false } } })
await first.stop()
const measuringOnce = measuring()
const tokens = [sandbox.token]
for (const username of ['bot_a', 'bot_b']) tokens.push((await sandbox.control.addBot({ username })).token)
const sidecars = await Promise.all(
  tokens.map((token) => startSidecar({ upstream: sandbox.url, token })),
)
await startSidecar({ upstream: sandbox.url, token: 'bot_1.wrong' }).catch(() => {})
const whileRunning = folders().length
await Promise.all(sidecars.map((sidecar) => sidecar.stop()))
const isAsBefore = measuring() === measuringOnce
await sandbox[Symbol.asyncDispose]()
const after = listeners()
const added = JSON.stringify(after) === before ? [] : after
console.log(JSON.stringify({
  whileRunning,
  afterwards: folders(),
  added,
  measuring: isAsBefore ? 'as after the first' : 'more than after the first',
}))
`
