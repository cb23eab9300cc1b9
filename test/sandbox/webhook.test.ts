import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { createReceiver } from '../contract/receiver.ts'
import { listening } from '../support/listening.ts'
import { ask, still } from './support.ts'

const HOUR_MS = 3_600_000

/** Sets a webhook and queues one update for it. */
async function deliverTo(sandbox: Sandbox, url: string): Promise<void> {
  await ask(sandbox, 'POST /webhook', { body: { url } })
  await write(sandbox)
}

const write = ({ control, home }: Sandbox) =>
  control.post({ userId: home.alice.id, chatId: home.privateChat, text: 'x' })

/** When each delivery was made, in seconds after `startMs`. */
const attempts = ({ transcript }: Sandbox, startMs: number): number[] =>
  transcript
    .list()
    .filter(({ by }) => by === 'webhook')
    .map(({ at }) => (at - startMs) / 1000)

const webhook = async (sandbox: Sandbox) =>
  (await sandbox.control.bot({ botId: sandbox.home.bot.id })).webhook

test('an advance makes every retry of a failing webhook at its time', async () => {
  await using receiver = await createReceiver([500, 500, 500, 500])
  await using sandbox = await still({ webhooks: 'local' })
  const startMs = sandbox.now()
  await deliverTo(sandbox, receiver.url)
  await sandbox.advance(10_000)
  expect(attempts(sandbox, startMs)).toEqual([0, 1, 3, 7])
  expect(await webhook(sandbox)).toMatchObject({ failures: 4, nextAttemptAt: startMs + 15_000 })
  await sandbox.advance(5000)
  expect(attempts(sandbox, startMs)).toEqual([0, 1, 3, 7, 15])
  expect(await webhook(sandbox)).toMatchObject({ failures: 0, pending: 0 })
})

test('a webhook receiver that is slow in real time answers within no time of the stopped clock', async () => {
  const server = createServer((_request, response) => setTimeout(() => response.end(), 150))
  await using sandbox = await still({ webhooks: 'local' })
  const startMs = sandbox.now()
  await deliverTo(sandbox, await listening(server))
  await write(sandbox)
  await sandbox.advance(60_000)
  expect(attempts(sandbox, startMs)).toEqual([0, 0])
  expect(await webhook(sandbox)).toMatchObject({ failures: 0, lastError: null, pending: 0 })
})

test('the failure count of a webhook outlives the expired update, until a delivery succeeds', async () => {
  await using receiver = await createReceiver(Array.from({ length: 200 }, () => 500))
  await using sandbox = await still({ webhooks: 'local' })
  await deliverTo(sandbox, receiver.url)
  await sandbox.advance(72 * HOUR_MS + 1000)
  const expired = await webhook(sandbox)
  expect(expired).toMatchObject({ pending: 0, nextAttemptAt: null })
  expect(expired['failures']).toBeGreaterThan(70)
  expect(expired['lastError']).toBe('the receiver answered 500')
  receiver.answers.length = 0
  await write(sandbox)
  await sandbox.advance(HOUR_MS)
  expect(await webhook(sandbox)).toMatchObject({ failures: 0, lastError: null, pending: 0 })
})

test('a webhook continues after a token is revoked, and `GET /webhook` with a new token returns it', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await still({ webhooks: 'local' })
  await ask(sandbox, 'POST /webhook', { body: { url: receiver.url } })
  await ask(sandbox, 'POST /token/revoke')
  await write(sandbox)
  await sandbox.advance(0)
  expect(receiver.deliveries).toHaveLength(1)
  const { token } = await sandbox.control.issueToken({ botId: sandbox.home.bot.id })
  const found = await ask(sandbox, 'GET /webhook', { token })
  expect(found.result).toMatchObject({ url: receiver.url, pending: 0 })
})

test.each([
  ['an answer of 307', 307, 'the receiver redirected (307)'],
  ['a closed port', null, 'the connection failed'],
  ['a receiver without an answer', 0, 'no answer within 10 seconds'],
] as const)(
  'a webhook delivery to %s fails with its reason',
  async (_receiver, answer, lastError) => {
    await using receiver = await createReceiver(answer === null ? [] : [answer])
    await using sandbox = await still({ webhooks: 'local', receiverPatienceMs: 100 })
    if (answer === null) await receiver[Symbol.asyncDispose]()
    await deliverTo(sandbox, receiver.url)
    await sandbox.advance(answer === 0 ? 10_000 : 0)
    expect(await webhook(sandbox)).toMatchObject({ failures: 1, lastError })
  },
)

test('a paused bot receives no webhook deliveries until it is resumed', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await still({ webhooks: 'local' })
  const botId = sandbox.home.bot.id
  await ask(sandbox, 'POST /webhook', { body: { url: receiver.url } })
  await sandbox.control.pause({ botId })
  await write(sandbox)
  await sandbox.advance(0)
  expect((await ask(sandbox, 'GET /webhook')).status).toBe(200)
  expect(receiver.deliveries).toEqual([])
  await sandbox.control.resume({ botId })
  await receiver.until(1)
})
