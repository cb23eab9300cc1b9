/** Reasons of `/readyz` that are about the flow of updates: they come up, and go by themselves. */
import { expect, test } from 'vitest'
import { openBot, sceneWithWebhook } from './bot.ts'
import { openScene, PLAIN, until, type Scene } from './support.ts'

const HOUR_MS = 3_600_000

/** What waits at the service, without anybody having to write it. */
async function queue(scene: Scene, count: number): Promise<void> {
  const botId = scene.sandbox.home.bot.id
  for (let n = 0; n < count; n++) await scene.sandbox.control.injectUpdate({ botId, update: {} })
}

test('/readyz names `webhook-failing` after ten failed deliveries in a row, until one succeeds', async () => {
  let status = 500
  const { scene, bot } = await sceneWithWebhook(
    PLAIN,
    (_delivery, response) => void response.writeHead(status).end(),
  )
  await queue(scene, 1)
  for (let failures = 1; failures < 10; failures++) {
    await bot.until(failures)
    expect(await scene.reason('webhook-failing')).toBe(null)
    await scene.pass(1000 * 2 ** (failures - 1))
  }
  await until(() => scene.reason('webhook-failing'))
  expect(await scene.reason('webhook-failing')).toContain('10 in a row')
  expect((await scene.ready()).status).toBe(503)
  status = 200
  await scene.pass(512_000)
  await until(async () => (await scene.reason('webhook-failing')) === null)
})

test('/readyz names `updates-waiting` while a thousand updates wait for a webhook', async () => {
  let status = 500
  const scene = await openScene(PLAIN)
  const bot = await openBot((_delivery, response) => void response.writeHead(status).end())
  await queue(scene, 1000)
  await scene.call('GET', '/me')
  // A bot that polls may come when it likes.
  expect(await scene.reason('updates-waiting')).toBe(null)
  await scene.call('POST', '/webhook', { url: bot.url })
  await bot.until(1)
  await scene.call('GET', '/me')
  expect(await scene.reason('updates-waiting')).toContain('1000 wait')
  expect(await scene.metric('updates_waiting')).toBe(1000)
  status = 200
  await scene.pass(1000)
  await bot.until(1001)
  await until(async () => {
    await scene.call('GET', '/me')
    return (await scene.reason('updates-waiting')) === null
  })
})

test('/readyz names `updates-expiring` once updates have waited for 24 hours, until the bot polls again', async () => {
  const scene = await openScene(PLAIN)
  await queue(scene, 3)
  await scene.call('GET', '/me')
  expect(await scene.metric('updates_waiting')).toBe(3)
  await scene.clock.advance(23 * HOUR_MS)
  expect(await scene.reason('updates-expiring')).toBe(null)
  await scene.clock.advance(HOUR_MS)
  await until(() => scene.reason('updates-expiring'))
  expect(await scene.metric('updates_oldest_seconds')).toBeGreaterThanOrEqual(24 * 3600)
  expect(await scene.metric('updates_dropped_in_seconds')).toBeLessThanOrEqual(48 * 3600)
  const { result } = await scene.call('GET', '/updates')
  await scene.call('GET', `/updates?offset=${Number(result.at(-1).updateId) + 1}`)
  expect(await scene.reason('updates-expiring')).toBe(null)
  expect(await scene.metric('updates_oldest_seconds')).toBe(0)
})

test('/readyz names `stopping` while a stopping sidecar finishes a delivery', async () => {
  const scene = await openScene(PLAIN)
  const answer = Promise.withResolvers<() => void>()
  const bot = await openBot((_delivery, response) =>
    answer.resolve(() => void response.writeHead(200).end()),
  )
  await scene.call('POST', '/webhook', { url: bot.url })
  await queue(scene, 1)
  const take = await answer.promise
  const stopped = scene.stop()
  expect((await scene.ready()).reasons).toMatchObject([{ code: 'stopping' }])
  take()
  await stopped
  await expect(scene.ready()).rejects.toThrow('fetch failed')
})
