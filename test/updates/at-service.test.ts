import { expect, test } from 'vitest'
import { openBot } from './bot.ts'
import { openScene, PLAIN, until, type Scene } from './support.ts'

const LOCAL = { sandbox: { webhooks: 'local' } } as const

/** A scene whose bot already has a webhook at the service. */
async function movedFrom(options: { publish: boolean }) {
  const scene = await openScene({ ...LOCAL, ...options })
  const bot = await openBot()
  await scene.past('POST', '/webhook', { url: bot.url, secret: 'at-the-service' })
  return { scene, bot }
}

const serviceUrl = async (scene: Scene): Promise<unknown> =>
  (await scene.past('GET', '/webhook')).result.url

test('a webhook at the service stays there: polls answer 409, /readyz names it, its updates arrive sealed', async () => {
  const { scene, bot } = await movedFrom({ publish: true })
  const poll = await scene.call('GET', '/updates')
  expect([poll.status, poll.code]).toEqual([409, 'webhook_active'])
  expect(poll.text).toBe((await scene.past('GET', '/updates')).text)
  const shown = await scene.call('GET', '/webhook')
  expect(shown.text).toBe((await scene.past('GET', '/webhook')).text)
  expect((await scene.call('GET', '/me')).result.webhook.url).toBe(bot.url)
  expect(await scene.reason('webhook-at-service')).toContain(
    'the service itself delivers to a webhook',
  )
  await scene.write(1)
  await bot.until(1)
  expect(JSON.parse(bot.deliveries[0]?.body ?? '').message.armored).toContain('BEGIN PGP')
})

test('/readyz names a webhook at the service right after the start, without a poll', async () => {
  const { scene } = await movedFrom({ publish: true })
  await scene.restart()
  await until(() => scene.reason('webhook-at-service'))
})

test('`POST /webhook` moves a webhook from the service to the sidecar and has updates opened', async () => {
  const { scene, bot } = await movedFrom({ publish: true })
  const set = await scene.call('POST', '/webhook', { url: bot.url, secret: 'again' })
  expect([set.status, set.result]).toEqual([200, { url: bot.url, hasSecret: true, pending: 0 }])
  expect(await serviceUrl(scene)).toBe(null)
  expect(await scene.reason('webhook-at-service')).toBe(null)
  const words = await scene.write(1)
  await bot.until(1)
  expect(bot.words).toEqual(words)
  expect(bot.deliveries[0]?.headers['x-service-bot-api-secret-token']).toBe('again')
})

test('`DELETE /webhook` through the sidecar removes the webhook at the service, and polls work again', async () => {
  const { scene } = await movedFrom({ publish: false })
  await scene.call('GET', '/updates')
  const removed = await scene.call('DELETE', '/webhook')
  expect(removed.result).toEqual({ url: null, pending: 0 })
  expect(await serviceUrl(scene)).toBe(null)
  expect(await scene.reason('webhook-at-service')).toBe(null)
  expect((await scene.call('GET', '/updates')).status).toBe(200)
})

test('a webhook that the service fails to remove stays there, and the sidecar registers none', async () => {
  const { scene, bot } = await movedFrom({ publish: false })
  scene.sandbox.fault('error', { route: 'deleteWebhook', times: 1 })
  const refused = await scene.call('POST', '/webhook', { url: 'http://127.0.0.1:9/' })
  expect([refused.status, refused.code]).toEqual([500, 'internal'])
  expect(await serviceUrl(scene)).toBe(bot.url)
  expect((await scene.call('GET', '/webhook')).result.url).toBe(bot.url)
  await scene.restart()
  expect((await scene.call('GET', '/webhook')).result.url).toBe(bot.url)
})

test('a webhook set at the service past the sidecar is named by /readyz and stays until the bot sets its own again', async () => {
  const scene = await openScene({ ...LOCAL, ...PLAIN })
  const ours = await openBot()
  const theirs = await openBot()
  await scene.call('POST', '/webhook', { url: ours.url })
  await until(() => scene.calls(0).some((call) => call.includes('timeout=50')))
  await scene.past('POST', '/webhook', { url: theirs.url })
  // It takes the end of its poll for another's, and waits a little.
  await scene.pass(250)
  await until(() => scene.reason('webhook-at-service'))
  await scene.write(1)
  await theirs.until(1)
  expect(ours.deliveries).toEqual([])
  expect((await scene.call('GET', '/webhook')).result.url).toBe(ours.url)
  await scene.call('POST', '/webhook', { url: ours.url })
  await scene.write(1)
  await ours.until(1)
  expect(await scene.reason('webhook-at-service')).toBe(null)
})

const url = 'http://127.0.0.1:9/'

test('a paused bot is refused polls and `POST /webhook` with `bot_paused`, and receives no update until resumed', async () => {
  const scene = await openScene(PLAIN)
  const bot = await openBot()
  const { control, home } = scene.sandbox
  await scene.call('POST', '/webhook', { url: bot.url })
  await control.pause({ botId: home.bot.id })
  const other = await scene.call('POST', '/webhook', { url })
  expect([other.status, other.code]).toEqual([403, 'bot_paused'])
  expect((await scene.call('GET', '/updates')).code).toBe('bot_paused')
  expect((await scene.call('GET', '/webhook')).result.url).toBe(bot.url)
  const refusedPolls = (): number =>
    scene.sandbox.transcript
      .list()
      .filter(({ path, status }) => path.includes('timeout=50') && status === 403).length
  await until(async () => {
    await scene.clock.advance(51_000)
    return refusedPolls() > 0
  })
  const words = await scene.write(2)
  const before = refusedPolls()
  await until(async () => {
    await scene.clock.advance(60_000)
    return refusedPolls() > before
  })
  expect(bot.deliveries).toEqual([])
  await control.resume({ botId: home.bot.id })
  // Whoever learns that it is resumed wakes the deliveries.
  expect((await scene.call('GET', '/me')).result.status).toBe('active')
  await bot.until(2)
  expect(bot.words).toEqual(words)
  await control.pause({ botId: home.bot.id })
  expect((await scene.call('DELETE', '/webhook')).result).toMatchObject({ url: null })
})

test('a revoked token makes every call unauthorized and ends the sidecar’s own calls to the service', async () => {
  const scene = await openScene(PLAIN)
  await scene.call('POST', '/webhook', { url })
  await until(() => scene.calls(0).some((call) => call.includes('timeout=50')))
  await scene.call('POST', '/token/revoke')
  for (const [method, path] of [
    ['GET', '/webhook'],
    ['DELETE', '/webhook'],
    ['GET', '/updates'],
  ] as const) {
    expect((await scene.call(method, path)).code).toBe('unauthorized')
  }
  expect((await scene.call('POST', '/webhook', { url })).code).toBe('unauthorized')
  const since = scene.mark()
  for (let n = 0; n < 10; n++) await scene.clock.advance(3_600_000)
  expect(await scene.reason('token')).toContain('revoked')
  expect(scene.calls(since)).toEqual([])
})

test('a 429 of the service during `POST /webhook` reaches the bot, and no webhook is set', async () => {
  const scene = await openScene(PLAIN)
  const fault = { status: 429, code: 'rate_limited', retryAfter: 60, retryAfterHeader: '7' }
  for (const route of ['getUpdates', 'getWebhook'] as const) {
    scene.sandbox.fault('error', { ...fault, route, times: 1 })
    const refused = await scene.call('POST', '/webhook', { url })
    expect([refused.status, refused.code]).toEqual([429, 'rate_limited'])
  }
  expect((await scene.call('GET', '/webhook')).result.url).toBe(null)
  expect((await scene.call('GET', '/updates')).status).toBe(200)
})
