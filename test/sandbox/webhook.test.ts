import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { createReceiver } from './webhook-receiver.ts'
import { ask, outcome, still } from './support.ts'

const local = () => still({ webhooks: 'local' })
const set = (sandbox: Sandbox, body: object) => ask(sandbox, 'POST /webhook', { body })
const write = (sandbox: Sandbox, text: string) =>
  sandbox.control.post({
    userId: sandbox.home.alice.id,
    chatId: sandbox.home.privateChat,
    text,
  })
interface Info {
  url: string | null
  pending: number
  failures: number
  lastError: string | null
  nextAttemptAt: number | null
}

/** `GET /webhook`, once it says what is expected. */
async function info(sandbox: Sandbox, ready: (info: Info) => boolean): Promise<Info> {
  for (;;) {
    const { webhook } = await sandbox.control.bot({ botId: sandbox.home.bot.id })
    if (ready(webhook)) return webhook
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('updates are POSTed one by one, in order, with user agent and secret', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  for (const text of ['one', 'two', 'three']) await write(sandbox, text)
  const response = await set(sandbox, { url: receiver.url, secret: 'top-secret_1' })
  expect(response.result).toMatchObject({ url: receiver.url, hasSecret: true })
  await receiver.until(3)
  expect(receiver.deliveries.map(({ update }) => update.message.text)).toEqual([
    'one',
    'two',
    'three',
  ])
  expect(receiver.deliveries[0]).toMatchObject({
    method: 'POST',
    path: '/hook',
    headers: {
      'user-agent': 'Service-Bot-Api/1',
      'content-type': 'application/json',
      'x-service-bot-api-secret-token': 'top-secret_1',
    },
  })
  await info(sandbox, ({ pending }) => pending === 0)
})

test('without a secret the header is absent', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  await receiver.until(1)
  expect(receiver.deliveries[0]?.headers).not.toHaveProperty('x-service-bot-api-secret-token')
})

test('what failed is tried again first, after a wait that doubles from 1 second', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  receiver.statuses.push(500, 404)
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  await write(sandbox, 'two')
  const first = await info(sandbox, ({ failures }) => failures === 1)
  expect(first).toMatchObject({ pending: 2, lastError: 'the receiver answered 500' })
  expect(first.nextAttemptAt).toBe(sandbox.now() + 1000)
  await sandbox.advance(999)
  expect(receiver.deliveries).toHaveLength(1)
  await sandbox.advance(1)
  const second = await info(sandbox, ({ failures }) => failures === 2)
  expect(second.nextAttemptAt).toBe(sandbox.now() + 2000)
  await sandbox.advance(2000)
  await receiver.until(4)
  const texts = receiver.deliveries.map(({ update }) => update.message.text)
  expect(texts).toEqual(['one', 'one', 'one', 'two'])
  await info(sandbox, ({ failures, lastError }) => failures === 0 && lastError === null)
})

test('the wait grows to an hour at most, and after ten failures the owner gets a notice', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  receiver.statuses.push(...Array.from({ length: 14 }, () => 503))
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  const waits: number[] = []
  for (let failed = 1; failed <= 14; failed++) {
    const { nextAttemptAt } = await info(sandbox, ({ failures }) => failures === failed)
    waits.push(((nextAttemptAt ?? 0) - sandbox.now()) / 1000)
    const { ownerNotices } = await sandbox.control.bot({ botId: sandbox.home.bot.id })
    expect(ownerNotices).toHaveLength(failed < 10 ? 0 : 1)
    if (failed < 14) await sandbox.advance(waits.at(-1)! * 1000)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600])
})

test('a redirect is a failure and is not followed', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  receiver.statuses.push(307)
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  const { lastError } = await info(sandbox, ({ failures }) => failures === 1)
  expect(lastError).toBe('the receiver redirected (307)')
  expect(receiver.deliveries.map(({ path }) => path)).toEqual(['/hook'])
})

test('no answer within 10 seconds is a failure', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await still({ webhooks: 'local', receiverPatienceMs: 100 })
  receiver.statuses.push(0)
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  await receiver.until(1)
  await sandbox.advance(9999)
  expect((await sandbox.control.bot({ botId: sandbox.home.bot.id })).webhook['failures']).toBe(0)
  await sandbox.advance(1)
  const { lastError } = await info(sandbox, ({ failures }) => failures === 1)
  expect(lastError).toBe('no answer within 10 seconds')
})

test('a receiver that is not there is a failure', async () => {
  const receiver = await createReceiver()
  await receiver[Symbol.asyncDispose]()
  await using sandbox = await local()
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  const { lastError } = await info(sandbox, ({ failures }) => failures === 1)
  expect(lastError).toBe('the connection failed')
})

test('while a webhook is set polling is refused, and a poll in progress ends', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  const waiting = ask(sandbox, 'GET /updates?timeout=50')
  while (sandbox.transcript.list().length === 0) await new Promise((r) => setTimeout(r, 1))
  await new Promise((resolve) => setTimeout(resolve, 10))
  await set(sandbox, { url: receiver.url })
  expect((await waiting).result).toEqual([])
  expect(await outcome(sandbox, 'GET /updates')).toBe('webhook_active')
})

test('deleting the webhook leaves what is queued for polling', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  receiver.statuses.push(500)
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  await info(sandbox, ({ failures }) => failures === 1)
  const gone = await ask(sandbox, 'DELETE /webhook')
  expect(gone.result).toEqual({ url: null, pending: 1 })
  expect((await ask(sandbox, 'GET /webhook')).result).toEqual({
    url: null,
    hasSecret: false,
    pending: 1,
    failures: 0,
    lastError: null,
    nextAttemptAt: null,
  })
  expect((await ask(sandbox, 'GET /updates')).result).toHaveLength(1)
  await sandbox.advance(3_600_000)
  expect(receiver.deliveries).toHaveLength(1)
})

test('a paused bot gets no deliveries until it is resumed', async () => {
  await using receiver = await createReceiver()
  await using sandbox = await local()
  const { bot } = sandbox.home
  await set(sandbox, { url: receiver.url })
  await sandbox.control.pause({ botId: bot.id })
  await write(sandbox, 'one')
  expect(await outcome(sandbox, 'GET /webhook')).toBe(200)
  expect(receiver.deliveries).toEqual([])
  await sandbox.control.resume({ botId: bot.id })
  await receiver.until(1)
})
