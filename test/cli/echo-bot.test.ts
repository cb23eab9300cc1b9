import { expect, test } from 'vitest'
import { runEchoBot, type EchoedMessage } from '../../src/cli/echo-bot.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'

/** Lets the bot run straight at the service, with no sidecar between: it needs none. */
function runBot(sandbox: Sandbox) {
  const stop = new AbortController()
  const echoed: EchoedMessage[] = []
  const { url, token } = sandbox
  const done = runEchoBot({ url, token, signal: stop.signal, onMessage: (one) => echoed.push(one) })
  const end = async () => {
    stop.abort()
    await done.catch(() => undefined)
  }
  return { echoed, done, stop: () => stop.abort(), [Symbol.asyncDispose]: end }
}

test('the echo bot answers each message as a reply', async () => {
  await using sandbox = await createSandbox()
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const bot = runBot(sandbox)
  const messageId = await phone.write(privateChat, 'hello')
  const answer = await phone.seen(({ chatId }) => chatId === privateChat)
  expect(answer.text).toBe('you said: hello')
  expect(bot.echoed).toEqual([{ chatId: privateChat, text: 'hello', answer: 'you said: hello' }])
  const [, reply] = await sandbox.control.messages({ chatId: privateChat })
  expect(reply?.replyTo).toBe(messageId)
  bot.stop()
  await expect(bot.done).rejects.toThrow()
})

test('the echo bot ignores messages without text', async () => {
  await using sandbox = await createSandbox()
  const { alice, bot: self, readableGroup, encryptedGroup } = sandbox.home
  await sandbox.control.changeBot({ botId: self.id, privacyMode: false })
  await using bot = runBot(sandbox)
  await sandbox.control.leave({ chatId: encryptedGroup, userId: alice.id })
  const phone = await sandbox.phone(alice.id)
  await phone.write(readableGroup, 'after the notice')
  await phone.seen(({ text }) => text === 'you said: after the notice')
  expect(bot.echoed).toHaveLength(1)
})

test('the echo bot repeats a call that was refused with 429', async () => {
  await using sandbox = await createSandbox()
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  const flood = { status: 429, code: 'flood_wait', retryAfter: 1 }
  sandbox.fault('error', { route: 'sendMessage', times: 1, ...flood })
  await using bot = runBot(sandbox)
  await phone.write(privateChat, 'again')
  await phone.seen(({ text }) => text === 'you said: again')
  expect(bot.echoed).toHaveLength(1)
  expect(await sandbox.control.faults()).toEqual([])
})

test('the echo bot continues after a refused message and a refused poll', async () => {
  await using sandbox = await createSandbox()
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  sandbox.fault('error', { route: 'sendMessage', times: 1, status: 409, code: 'some_refusal' })
  sandbox.fault('error', { route: 'getUpdates', times: 1, status: 403, code: 'bot_paused' })
  await using bot = runBot(sandbox)
  await phone.write(privateChat, 'refused')
  await phone.write(privateChat, 'answered')
  await phone.seen(({ text }) => text === 'you said: answered')
  expect(bot.echoed).toHaveLength(2)
  expect(await sandbox.control.faults()).toEqual([])
})

test('the echo bot ends with an error when its token is invalid', async () => {
  await using sandbox = await createSandbox()
  await sandbox.control.revokeToken({ botId: sandbox.home.bot.id })
  await expect(runBot(sandbox).done).rejects.toThrow('unauthorized')
})
