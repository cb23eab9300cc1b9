import { expect, test } from 'vitest'
import { openBot, type WebhookBot } from './bot.ts'
import { message, openService, refuse, type Answering } from './service.ts'
import { openScene, PLAIN, until } from './support.ts'

/** A sidecar before a scripted service, with a bot whose webhook is set. */
async function begin(...first: Answering[]) {
  const service = await openService()
  service.answers.push(...first)
  const scene = await openScene({ ...PLAIN, upstream: () => Promise.resolve(service.url) })
  const statuses: number[] = []
  const bot = await openBot((_delivery, response) => {
    response.writeHead(statuses.shift() ?? 200).end()
  })
  await scene.call('POST', '/webhook', { url: bot.url })
  const polled = async (count: number) => {
    await until(() => service.polls.length >= count)
    return service.polls.map(({ offset }) => offset)
  }
  return { service, scene, bot, statuses, polled }
}

const ids = ({ deliveries }: WebhookBot): number[] =>
  deliveries.map(({ body }) => (JSON.parse(body) as { updateId: number }).updateId)

test('the sidecar confirms updates at the service only once the webhook has accepted them', async () => {
  const { service, bot, polled } = await begin([message(11), message(12)])
  expect(await polled(2)).toEqual([null, 13])
  expect(ids(bot)).toEqual([11, 12])
  expect(service.polls[0]).toEqual({ offset: null, limit: 100, timeout: 50 })
})

test('an update that the webhook refuses is read again and not confirmed, and its predecessors are confirmed', async () => {
  const { service, scene, bot, statuses, polled } = await begin()
  statuses.push(200, 500)
  await scene.call('DELETE', '/webhook')
  service.answers.push([message(11), message(12), message(13)], [message(12), message(13)])
  await scene.call('POST', '/webhook', { url: bot.url })
  await bot.until(2)
  await scene.pass(1000)
  const offsets = await polled(4)
  expect(offsets.slice(-3)).toEqual([null, 12, 14])
  expect(ids(bot)).toEqual([11, 12, 12, 13])
})

test('a poll of an idle queue does not repeat an offset that was confirmed', async () => {
  const { service, scene } = await begin([message(11)], [], [])
  // An empty answer at once is another's poll; after that ours wait a little.
  await scene.pass(250)
  await scene.pass(500)
  await until(() => service.polls.length >= 4)
  expect(service.polls.map(({ offset }) => offset)).toEqual([null, 12, null, null])
})

test('an update that the service repeats is confirmed again and not delivered again', async () => {
  const again = [message(11), message(12)]
  const { bot, polled } = await begin(again, again, [...again, message(13)])
  expect(await polled(4)).toEqual([null, 13, 13, 14])
  expect(ids(bot)).toEqual([11, 12, 13])
})

test('an update delivered and not confirmed before a restart is not delivered again', async () => {
  const { service, scene, bot, polled } = await begin([message(11), message(12)])
  await polled(2)
  await scene.stop()
  service.answers.push([message(11), message(12), message(13)])
  await scene.start()
  expect((await polled(4)).slice(-2)).toEqual([null, 14])
  expect(ids(bot)).toEqual([11, 12, 13])
})

test('a service that restarts its update ids loses no update through the sidecar', async () => {
  const { service, scene, bot, polled } = await begin([message(900)])
  await polled(2)
  await scene.stop()
  service.answers.push([message(1), message(2)])
  await scene.start()
  expect((await polled(4)).slice(-2)).toEqual([null, 3])
  await scene.stop()
  // The id that was delivered last, for another message.
  service.answers.push([message(1, 5), message(2, 6)])
  await scene.start()
  expect((await polled(6)).slice(-2)).toEqual([null, 3])
  expect(ids(bot)).toEqual([900, 1, 2, 1, 2])
})

test('a poll of too many bytes is repeated with half of the updates, and a smaller answer raises the limit', async () => {
  const large: Answering = (response, { limit }) => {
    const padding = 'x'.repeat(800_000)
    const updates = Array.from({ length: limit }, (_one, index) => ({
      ...message(index + 1),
      padding,
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, result: updates }))
  }
  const { service, bot } = await begin(large, large, large)
  await until(() => service.polls.length >= 4)
  expect(service.polls.map(({ limit }) => limit)).toEqual([100, 50, 25, 50])
  expect(ids(bot)).toEqual(Array.from({ length: 25 }, (_one, index) => index + 1))
})

test.each<[string, Answering]>([
  ['ids that do not grow', [message(12), message(11)]],
  ['no JSON', (response) => void response.end('<html>')],
  [
    'half a body',
    (response) => void response.writeHead(200).write('{"ok":', () => response.destroy()),
  ],
  ['a redirect', (response) => void response.writeHead(302, { location: '/x' }).end()],
  ['an error status', (response) => refuse(response, { status: 500, code: 'internal' })],
])(
  'an answer with %s is neither delivered nor confirmed, and the sidecar polls again',
  async (_what, bad) => {
    const { scene, bot, polled } = await begin(bad, [message(21)])
    await scene.pass(1000)
    expect((await polled(3)).slice(0, 3)).toEqual([null, null, 22])
    expect(ids(bot)).toEqual([21])
    expect(scene.lines.map(({ msg }) => msg)).toContain('updates could not be read')
  },
)

test('a poll refused with 429 is repeated after the seconds of its Retry-After header', async () => {
  const limited: Answering = (response) =>
    refuse(response, { status: 429, code: 'rate_limited', retryAfter: 60 }, { 'retry-after': '7' })
  const { service, scene, polled } = await begin(limited, [message(31)])
  await until(() => scene.clock.waits.includes(7000))
  await scene.clock.advance(6999)
  await scene.call('GET', '/me')
  expect(service.polls.length).toBe(1)
  await scene.clock.advance(1)
  expect(await polled(3)).toEqual([null, null, 32])
})

test('polls of an unreachable service back off by 1, 2 and 4 seconds', async () => {
  const gone: Answering = (response) => void response.destroy()
  const { scene, polled } = await begin(gone, gone, gone, [message(41)])
  for (const seconds of [1, 2, 4]) await scene.pass(seconds * 1000)
  expect(await polled(5)).toEqual([null, null, null, null, 42])
})

test('an update of an unknown kind reaches the webhook unchanged, with every digit of its numbers', async () => {
  const odd: Answering = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      '{"ok":true,"result":[{"updateId":51,"kind":"new","n":12345678901234567890,"f":1.0}]}',
    )
  }
  const { bot } = await begin(odd)
  await bot.until(1)
  expect(bot.deliveries[0]?.body).toBe(
    '{"updateId":51,"kind":"new","n":12345678901234567890,"f":1.0}',
  )
})
