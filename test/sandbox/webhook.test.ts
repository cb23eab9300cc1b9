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

test('a receiver that is not there is a failure', async () => {
  const receiver = await createReceiver()
  await receiver[Symbol.asyncDispose]()
  await using sandbox = await local()
  await set(sandbox, { url: receiver.url })
  await write(sandbox, 'one')
  const { lastError } = await info(sandbox, ({ failures }) => failures === 1)
  expect(lastError).toBe('the connection failed')
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
