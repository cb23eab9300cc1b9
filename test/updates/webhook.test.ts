import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Json } from '../support/double-wire.ts'
import { openBot, sceneWithWebhook } from './bot.ts'
import { openScene, PLAIN, until, type Scene } from './support.ts'

const PUBLIC = 'https://hooks.example.org/bot?token=in-the-path'
const HOSTS = { 'hooks.example.org': ['127.0.0.1'] }

const info = async (scene: Scene): Promise<Record<string, unknown>> =>
  (await scene.call('GET', '/webhook')).result

test('a webhook receives opened updates in order, one at a time, those from before its registration first', async () => {
  const scene = await openScene()
  let atOnce = 0
  let most = 0
  const bot = await openBot((_delivery, response) => {
    most = Math.max(most, ++atOnce)
    setTimeout(() => {
      atOnce--
      response.end()
    }, 5)
  })
  const before = await scene.write(3)
  const set = await scene.call('POST', '/webhook', { url: bot.url, secret: 'shown' })
  expect([set.status, set.result]).toEqual([200, { url: bot.url, hasSecret: true, pending: 3 }])
  const after = await scene.write(3)
  await bot.until(6)
  expect(bot.words).toEqual([...before, ...after])
  expect(most).toBe(1)
  const verdicts = bot.deliveries.map(({ body }) => JSON.parse(body).message.postern.verdict)
  expect(new Set(verdicts)).toEqual(new Set(['verified']))
  await until(async () => (await info(scene))['pending'] === 0)
  expect(await scene.metric('webhook_deliveries_total{outcome="delivered"}')).toBe(6)
})

test('`GET /webhook` and `GET /me` show the webhook without its secret, and the service never learns its url', async () => {
  const scene = await openScene({ publish: false, hosts: HOSTS })
  await scene.call('POST', '/webhook', { url: PUBLIC, secret: 'shown-to-nobody' })
  expect(await info(scene)).toEqual({
    url: PUBLIC,
    hasSecret: true,
    pending: 0,
    failures: 0,
    lastError: null,
    nextAttemptAt: null,
  })
  const me = await scene.call('GET', '/me')
  expect(me.result.webhook).toEqual({ url: PUBLIC, hasSecret: true, failures: 0, lastError: null })
  expect((await scene.past('GET', '/webhook')).result.url).toBe(null)
  const sent = scene.sandbox.transcript.list().map(({ path, body }) => path + body)
  expect(sent.join()).not.toContain('hooks.example.org')
})

test('a webhook and its secret survive a restart, and updates of the meantime are delivered', async () => {
  const scene = await openScene({ publish: false })
  const bot = await openBot()
  await scene.call('POST', '/webhook', { url: bot.url, secret: 'kept' })
  const first = await scene.write(1)
  await bot.until(1)
  await scene.stop()
  const second = await scene.write(2)
  await scene.start()
  await bot.until(3)
  expect(bot.words).toEqual([...first, ...second])
  expect(bot.deliveries.at(-1)?.headers['x-service-bot-api-secret-token']).toBe('kept')
  expect(await info(scene)).toMatchObject({ url: bot.url, hasSecret: true })
  expect((await scene.call('GET', '/updates')).code).toBe('webhook_active')
})

test('failures and last error of a webhook survive a restart, and the delivery is tried at once', async () => {
  const { scene, bot } = await sceneWithWebhook(
    PLAIN,
    (_delivery, response) => void response.writeHead(500).end(),
  )
  await scene.write(1)
  await until(async () => (await info(scene))['failures'] === 1)
  await scene.restart()
  await bot.until(2)
  await until(async () => (await info(scene))['failures'] === 2)
  expect((await info(scene))['lastError']).toBe('the bot answered 500')
})

test('a new webhook replaces the old one with its secret and failures, and receives the undelivered updates', async () => {
  const scene = await openScene({ publish: false })
  const old = await openBot((_delivery, response) => void response.writeHead(503).end())
  await scene.call('POST', '/webhook', { url: old.url, secret: 'old' })
  const words = await scene.write(2)
  await until(async () => (await info(scene))['failures'] === 1)
  const bot = await openBot()
  const set = await scene.call('POST', '/webhook', { url: bot.url })
  expect(set.result).toEqual({ url: bot.url, hasSecret: false, pending: 2 })
  await bot.until(2)
  expect(bot.words).toEqual(words)
  expect(bot.deliveries[0]?.headers).not.toHaveProperty('x-service-bot-api-secret-token')
  expect(await info(scene)).toMatchObject({ failures: 0, lastError: null, hasSecret: false })
  expect(old.deliveries.length).toBe(1)
})

test('a removed webhook leaves its undelivered updates, and no others, for polls', async () => {
  const scene = await openScene(PLAIN)
  const bot = await openBot((_delivery, response) => {
    response.writeHead(bot.deliveries.length > 2 ? 500 : 200).end()
  })
  await scene.call('POST', '/webhook', { url: bot.url })
  const words = await scene.write(4)
  await until(async () => (await info(scene))['failures'] === 1)
  const removed = await scene.call('DELETE', '/webhook')
  expect(removed.result).toEqual({ url: null, pending: 2 })
  const { result } = await scene.call('GET', '/updates')
  expect(result.map((update: Json) => update.message.text)).toEqual(words.slice(2))
  expect(await info(scene)).toMatchObject({ url: null, failures: 0, lastError: null })
  await scene.clock.advance(10_000)
  expect(bot.deliveries.length).toBe(3)
})

test('a bot may remove its webhook while it answers a delivery', async () => {
  const scene = await openScene(PLAIN)
  const removed = Promise.withResolvers<unknown>()
  const bot = await openBot((_delivery, response) => {
    const remove = async (): Promise<void> => {
      removed.resolve((await scene.call('DELETE', '/webhook')).result)
      response.end()
    }
    void remove()
  })
  await scene.call('POST', '/webhook', { url: bot.url })
  await scene.write(2)
  expect(await removed.promise).toEqual({ url: null, pending: 2 })
  expect((await scene.call('GET', '/updates')).result.length).toBe(2)
  expect(bot.deliveries.length).toBe(1)
})

const bytesOf = (folder: string): string =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(folder, name)).toString('latin1'))
    .join()

test('a webhook’s url and secret are stored encrypted, and neither secret nor url path is in the log or the status', async () => {
  const scene = await openScene({ publish: false, hosts: HOSTS })
  const secret = 'secret-0123456789'
  await scene.call('POST', '/webhook', { url: PUBLIC, secret })
  await scene.write(1)
  await until(async () => Number((await info(scene))['failures']) > 0)
  for (const word of ['hooks.example.org', secret]) {
    expect(bytesOf(scene.dataDir)).not.toContain(word)
  }
  const log = JSON.stringify(scene.lines)
  expect(log).toContain('https://hooks.example.org')
  for (const word of [secret, 'in-the-path']) expect(log).not.toContain(word)
  const status = JSON.stringify(await scene.sidecar.operations.status())
  expect(status).toContain('https://hooks.example.org')
  for (const word of [secret, 'in-the-path']) expect(status).not.toContain(word)
})

test('a webhook with a secret is refused with `postern_locked` while no passphrase can encrypt it', async () => {
  const scene = await openScene({ ...PLAIN, protection: 'auto', hosts: HOSTS })
  const refused = await scene.call('POST', '/webhook', { url: PUBLIC, secret: 'x' })
  expect([refused.status, refused.code]).toEqual([503, 'postern_locked'])
  expect((await info(scene))['url']).toBe(null)
  expect((await scene.call('POST', '/webhook', { url: PUBLIC })).status).toBe(200)
})

test('`DELETE /webhook` ignores its body', async () => {
  const scene = await openScene(PLAIN)
  const since = scene.mark()
  expect((await scene.call('DELETE', '/webhook', { url: 'https://example.org' })).status).toBe(200)
  expect(scene.calls(since)).toEqual(['DELETE /bot/v1/webhook'])
})

test('`POST /webhook` with a forbidden url is `bad_webhook` and causes no call to the service', async () => {
  const scene = await openScene({ ...PLAIN, allowHosts: ['127.0.0.1'] })
  const since = scene.mark()
  for (const url of ['http://127.0.0.2/', 'https://169.254.169.254/', 'nonsense']) {
    const refused = await scene.call('POST', '/webhook', { url })
    expect([refused.status, refused.code]).toEqual([400, 'bad_webhook'])
  }
  expect(scene.calls(since)).toEqual([])
  expect((await scene.call('POST', '/webhook', { url: 'http://127.0.0.1:9/' })).status).toBe(200)
})

test('a webhook whose host is no longer in `webhook.allowHosts` after a restart receives no update', async () => {
  const options = { ...PLAIN, allowHosts: ['127.0.0.1'] }
  const { scene, bot } = await sceneWithWebhook(options)
  await scene.stop()
  options.allowHosts = ['elsewhere']
  await scene.start()
  await scene.write(1)
  await until(async () => Number((await info(scene))['failures']) > 0)
  expect((await info(scene))['lastError']).toContain('webhook.allowHosts')
  expect(bot.deliveries).toEqual([])
})
