/** `postern/testing`, as the tests of a bot use it. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Phone, type Sandbox } from '../../src/sandbox/index.ts'
import { startSidecar, type StartSidecarOptions } from '../../src/testing/index.ts'
import { run } from '../support/programs.ts'

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

/** Starts one that ends with the test. */
async function start(options: Omit<StartSidecarOptions, 'upstream'> & { upstream?: string }) {
  const sidecar = await startSidecar({ upstream: sandbox.url, ...options })
  onTestFinished(() => sidecar.stop())
  return sidecar
}

/** Why a start failed. */
async function refusalOf(
  options: object,
): Promise<{ code: string; message: string; hint: string }> {
  const started = startSidecar({ upstream: sandbox.url, ...options } as StartSidecarOptions)
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

/** Starts in a moment, since no key is made. */
const WITHOUT_KEY = { key: { publish: false } }

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'postern-start-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('a sidecar in a test', () => {
  test('opens for the bot what a person sealed, and seals what the bot says', async () => {
    const { token, chatId } = await newBot()
    const { url } = await start({ token })
    await alice.write(chatId, 'open sesame')
    const { result } = await call(url, token, '/updates?timeout=5')
    expect(result[0]?.message.text).toBe('open sesame')
    await call(url, token, '/messages', { chatId, text: 'come in' })
    expect(await alice.seen(({ text }) => text === 'come in')).toMatchObject({
      verdict: 'verified',
    })
    expect(sandbox.transcript.search('sesame')).toEqual([])
  })

  test('is ready when it has started', async () => {
    const { token } = await newBot()
    const sidecar = await start({ token })
    expect((await fetch(`${sidecar.adminUrl}/readyz`)).status).toBe(200)
    await sidecar.ready()
  })

  test('runs beside others, each on ports of its own', async () => {
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

  test('takes a token of the bot’s own, and then no other', async () => {
    const { token } = await newBot()
    const { url } = await start({ token, clientToken: 'only-for-the-bot', settings: WITHOUT_KEY })
    expect((await call(url, 'only-for-the-bot', '/me')).ok).toBe(true)
    expect((await call(url, token, '/me')).error?.code).toBe('unauthorized')
  })

  test('takes a webhook with a secret', async () => {
    const { token } = await newBot()
    const { url } = await start({ token })
    const webhook = { url: 'http://127.0.0.1:9/hook', secret: 'only-for-tests' }
    expect((await call(url, token, '/webhook', webhook)).ok).toBe(true)
  })

  test('takes settings as a settings file has them', async () => {
    const { token, chatId } = await newBot()
    const { url } = await start({ token, settings: WITHOUT_KEY })
    await alice.write(chatId, 'in the clear')
    expect((await call(url, token, '/updates?timeout=5')).result[0]?.message.text).toBe(
      'in the clear',
    )
    expect(sandbox.transcript.search('in the clear')).not.toEqual([])
  })

  test('is started again with its key, over a folder that stays', async () => {
    const { token } = await newBot()
    const dataDir = join(folder(), 'data')
    const first = await start({ token, dataDir })
    await first.stop()
    expect(existsSync(dataDir)).toBe(true)
    const second = await start({ token, dataDir })
    expect((await fetch(`${second.adminUrl}/readyz`)).status).toBe(200)
  })

  test('opens such a folder with the passphrase that it was made with, and no other', async () => {
    const { token } = await newBot()
    const options = { token, dataDir: join(folder(), 'data') }
    await (await start({ ...options, passphrase: 'right' })).stop()
    expect(await refusalOf({ ...options, passphrase: 'wrong' })).toMatchObject({
      code: 'store-passphrase',
    })
    await start({ ...options, passphrase: 'right' })
  })

  test('starts before a service that is down where it need not be ready, and is ready later', async () => {
    const { token, id } = await newBot()
    const fault = sandbox.fault('cut', { botId: id })
    const sidecar = await start({ token, readyWithinMs: false })
    expect((await call(sidecar.url, token, '/me')).error?.code).toBe('postern_upstream_unreachable')
    await expect(sidecar.ready(0)).rejects.toMatchObject({ name: 'NotReadyError' })
    sandbox.clearFaults(fault)
    await sidecar.ready(20_000)
    expect((await call(sidecar.url, token, '/me')).ok).toBe(true)
  })
})

describe('a start that fails', () => {
  test('says that the service refuses the token, at once', async () => {
    const token = sandbox.token.replace(/.{6}$/, 'wrong!')
    const error = await refusalOf({ token, readyWithinMs: 3_600_000, settings: WITHOUT_KEY })
    expect(error).toMatchObject({ name: 'NotReadyError', code: 'token' })
    expect(error.message).toBe('the sidecar is not ready: the service refuses the bot’s token')
  })

  test('says that the service is not reached', async () => {
    const upstream = 'http://127.0.0.1:9'
    const sidecar = await start({ upstream, token: sandbox.token, readyWithinMs: false })
    const reason = () => sidecar.ready(0).catch((error: { code: string }) => error)
    await expect.poll(reason).toMatchObject({
      code: 'upstream',
      message: expect.stringContaining('could not be reached'),
      hint: expect.stringContaining('upstream.url'),
    })
  })

  test('says that it was not ready in time', async () => {
    const upstream = 'http://127.0.0.1:9'
    const error = await refusalOf({ upstream, token: sandbox.token, readyWithinMs: 0 })
    expect(error).toMatchObject({
      name: 'NotReadyError',
      code: 'starting',
      hint: expect.stringContaining('wait'),
    })
  })

  test('says that the bot is paused', async () => {
    const { token, id } = await newBot()
    await sandbox.control.pause({ botId: id })
    expect(await refusalOf({ token, settings: WITHOUT_KEY })).toMatchObject({ code: 'paused' })
  })

  test('says what to do where the sandbox has another time', async () => {
    await using elsewhen = await createSandbox()
    await elsewhen.advance(3_600_000)
    const error = await refusalOf({ upstream: elsewhen.url, token: elsewhen.token })
    expect(error).toMatchObject({ code: 'clock', hint: expect.stringContaining('`clock`') })
  })

  test('follows the clock of a sandbox that is handed in, before the start and after it', async () => {
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
      expect(await bob.seen(({ text }) => text === `${days} days`)).toMatchObject({
        verdict: 'verified',
      })
    }
  })

  test('names every setting that is wrong, with the nearest right name', async () => {
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
    'refuses secrets that are none: %o',
    async (options) => {
      const error = await refusalOf(options)
      expect([error.code, error.message]).toEqual([
        'settings',
        expect.not.stringContaining('words'),
      ])
    },
  )

  test('says that a port is taken', async () => {
    const { token } = await newBot()
    const port = Number(new URL(sandbox.url).port)
    const error = await refusalOf({ token, settings: { ...WITHOUT_KEY, listen: { port } } })
    expect([error.code, error.message]).toEqual(['listen', expect.stringContaining(String(port))])
  })

  test('says what to do where another sidecar has published a key for the bot', async () => {
    const { token } = await newBot()
    await start({ token })
    const error = await refusalOf({ token })
    expect(error).toMatchObject({ code: 'key-conflict', hint: expect.stringContaining('addBot') })
  })
})

describe('a sidecar that was stopped', () => {
  test('answers no longer, and says so to whoever waits for it', async () => {
    const { token } = await newBot()
    const sidecar = await start({ token, settings: WITHOUT_KEY })
    await sidecar.stop()
    await sidecar.stop()
    await expect(fetch(`${sidecar.url}/bot/v1/me`)).rejects.toThrow()
    await expect(fetch(`${sidecar.adminUrl}/healthz`)).rejects.toThrow()
    await expect(sidecar.ready(60_000)).rejects.toMatchObject({ code: 'stopping' })
  })

  test('ends a poll that is under way', async () => {
    const { token } = await newBot()
    const sidecar = await start({ token, settings: WITHOUT_KEY })
    const poll = call(sidecar.url, token, '/updates?timeout=50')
    await expect.poll(() => sandbox.transcript.search('timeout=50').length).toBe(1)
    await sidecar.stop()
    expect((await poll).result).toEqual([])
  })

  test('leaves nothing behind: no file, no thread, no listener, not a line, and a process that ends', async () => {
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
