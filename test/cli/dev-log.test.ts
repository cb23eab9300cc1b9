import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDevFolder } from '../../src/cli/dev-folder.ts'
import { startDev, type Dev } from '../../src/cli/dev-setup.ts'
import { runEchoBot } from '../../src/cli/echo-bot.ts'
import { listening } from '../support/listening.ts'
import { rmSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NO_PORTS = { port: 0, adminPort: 0, sandboxPort: 0, controlPort: 0, pagePort: 0 }

let path: string
let dev: Dev
let stack: AsyncDisposableStack
let printed: string[] = []

beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), 'postern-dev-'))
  stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(path, { recursive: true, force: true }))
  const folder = stack.use(openDevFolder(join(path, 'dev'), { fresh: false }))
  dev = stack.use(
    await startDev({
      folder,
      ports: NO_PORTS,
      seed: null,
      botName: undefined,
      open: false,
      print: (lines) => printed.push(...lines.split('\n')),
    }),
  )
  void dev.log.follow()
})
afterAll(() => stack.disposeAsync())
beforeEach(async () => {
  // So that no rate window is full.
  await dev.sandbox.advance(5000)
  printed = []
})

const home = () => dev.sandbox.home
/** What was printed, without the time of day. */
const shown = (): string[] =>
  printed.map((line) => line.replace(/^\d\d:\d\d:\d\d /, '').replace(/ {2,}/g, '  '))

/** A call of the bot through the sidecar. */
async function call(route: string, body?: object, token?: string) {
  const [method = '', callPath = ''] = route.split(' ')
  const answer = await fetch(`${dev.botUrl}/bot/v1${callPath}`, {
    method,
    headers: {
      authorization: `Bearer ${token ?? readFileSync(dev.tokenFile, 'utf8').trim()}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as { ok: boolean; result: unknown; error: { code: string } }
}

let offset = 0
/** Reads what waits for the bot, and confirms it. */
async function read(): Promise<void> {
  const { result } = await call(`GET /updates?timeout=5&offset=${offset}`)
  for (const { updateId } of result as { updateId: number }[]) offset = updateId + 1
  await call(`GET /updates?offset=${offset}`)
}

test('the log of `dev` has the names of bots and chats, not their ids', async () => {
  const { control } = dev.sandbox
  const { id: userId } = await control.addPerson({ username: 'carol' })
  const { id: chatId } = await control.addPrivateChat({ userId, botId: home().bot.id })
  await call('POST /messages', { chatId, text: 'hello?' })
  await expect.poll(() => shown().at(-1)).toContain('✗ 409 postern_no_recipient')
  expect(shown()[0]).toBe('echo_bot  carol and echo_bot: POST /messages is refused: hello?')
})

test('the log of `dev` names the members of a group who cannot read a message, and the reason', async () => {
  const { control } = dev.sandbox
  const { id: userId } = await control.addPerson({ username: 'dave' })
  await control.publishKey({ userId, publicKey: 'nonsense', fingerprint: 'aa' })
  const members = [home().alice.id, home().bot.id, userId]
  const { id: chatId } = await control.addRoom({ kind: 'group', title: 'Attic', members })
  await call('POST /messages', { chatId, text: 'hello all' })
  await expect.poll(() => shown().join(' ')).toMatch(/dave {2}unparseable: .*✗ cannot read it/)
  await control.leave({ chatId, userId })
  await expect.poll(() => shown().at(-1)).toBe('dave  Attic: left')
})

test('the log of `dev` shows a message, its reading, the answer and the verdict of the phone', async () => {
  const { alice, privateChat: chatId } = home()
  await dev.sandbox.control.write({ userId: alice.id, chatId, text: 'hello there' })
  await read()
  await call('POST /messages', { chatId, text: 'hello alice' })
  await expect
    .poll(shown)
    .toEqual([
      'alice  dm: hello there',
      '  echo_bot  reads it  ✓ verified',
      'echo_bot  dm: hello alice',
      '  alice  reads it  ✓ verified',
    ])
})

test('the log of `dev` marks no file without text as readable', async () => {
  const { alice, privateChat: chatId } = home()
  const base64 = Buffer.from('a file').toString('base64')
  await dev.sandbox.control.sendMedia({ userId: alice.id, chatId, base64 })
  await read()
  await expect.poll(shown).toEqual(['alice  dm: [a file]', '  echo_bot  reads it'])
})

test('the log of `dev` keeps the order of messages in a group', async () => {
  const { alice, bob, bot, encryptedGroup: chatId } = home()
  await using over = new AsyncDisposableStack()
  const stop = new AbortController()
  const token = readFileSync(dev.tokenFile, 'utf8').trim()
  const { signal } = stop
  const echo = runEchoBot({ url: dev.botUrl, token, signal, onMessage: () => {} })
  const ended = echo.catch(() => undefined)
  over.defer(async () => {
    stop.abort()
    await ended
  })
  await dev.sandbox.control.write({ userId: alice.id, chatId, text: 'nobody asked' })
  const text = `@${bot.username} are you there?`
  await dev.sandbox.control.write({ userId: bob.id, chatId, text })
  await expect
    .poll(shown)
    .toEqual([
      'alice  backroom: nobody asked',
      `bob  backroom: ${text}`,
      '  echo_bot  reads it  ✓ verified',
      `echo_bot  backroom: you said: ${text}`,
      '  alice  reads it  ✓ verified',
      '  bob  reads it  ✓ verified',
    ])
})

test('the log of `dev` shows a message whose text was withheld, and the reason', async () => {
  const { alice, privateChat: chatId } = home()
  await dev.sandbox.control.post({ userId: alice.id, chatId, text: 'forged words' })
  await read()
  await expect.poll(() => shown().at(-1)).toContain('✗ withheld: plaintext-in-protected')
  expect(shown().join(' ')).toContain('echo_bot  gets it without its text: readable words')
})

test('the log of `dev` shows button presses, answers, edits and deletions', async () => {
  const { alice, privateChat: chatId } = home()
  await call('POST /messages', {
    chatId,
    text: 'well?',
    markup: { inlineKeyboard: [[{ text: 'Yes', callbackData: 'y' }]] },
  })
  const messages = await dev.sandbox.control.messages({ chatId })
  const messageId = messages.at(-1)?.id ?? 0
  const { callbackId } = await dev.sandbox.control.press({ userId: alice.id, chatId, messageId })
  await read()
  await call(`POST /callbacks/${callbackId}/answer`, { text: 'thanks', alert: true })
  await call(`PATCH /messages/${messageId}`, { chatId, text: 'well, well' })
  await call(`DELETE /messages/${messageId}?chatId=${chatId}`, { chatId })
  await expect
    .poll(shown)
    .toEqual([
      'echo_bot  dm: well? [Yes]',
      '  alice  reads it  ✓ verified',
      `  echo_bot  reads that alice pressed y, dm: message ${messageId}`,
      'echo_bot  dm: thanks (alert)',
      `echo_bot  dm: edits message ${messageId}: well, well [Yes]  ✓ verified`,
      `  dm: message ${messageId} is gone`,
    ])
})

test('the log of `dev` shows a rejected delivery to a webhook, and an accepted one before its answer', async () => {
  const { alice, privateChat: chatId } = home()
  let isFirst = true
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      if (!isFirst) await call('POST /messages', { chatId, text: 'pushed' })
      response.writeHead(isFirst ? 500 : 204).end()
      isFirst = false
    }
    request.resume().on('end', () => void answer())
  })
  const url = `${await listening(server)}/`
  await call('POST /webhook', { url })
  await dev.sandbox.control.write({ userId: alice.id, chatId, text: 'by webhook' })
  const seen = '  alice  reads it  ✓ verified'
  await expect.poll(() => shown().at(-1), { timeout: 10_000 }).toBe(seen)
  await call('DELETE /webhook')
  await expect.poll(() => shown().at(-1)).toBe('echo_bot  removes its webhook')
  const text = shown().join('\n')
  expect(text).toContain(`echo_bot  sets its webhook: ${url}`)
  expect(text).toMatch(/echo_bot {2}does not take update \d+ at its webhook\n.*500.* {2}✗/)
  expect(text).toContain(`  echo_bot  reads it  ✓ verified\necho_bot  dm: pushed\n${seen}`)
})

test('the log of `dev` counts repeated lines', async () => {
  for (let times = 0; times < 5; times++) dev.log.show({ who: '  |', text: 'tick' })
  dev.log.show({ who: '  |', text: 'tock' })
  await dev.log.settled()
  expect(shown()).toEqual(['  |  tick', '  the same 4 times more', '  |  tock'])
})

test('the log of `dev` continues after the world is restored', async () => {
  const { alice, privateChat: chatId } = home()
  await dev.sandbox.control.snapshot({ name: 'here' })
  await dev.sandbox.control.restore({ name: 'here' })
  await dev.sandbox.control.write({ userId: alice.id, chatId, text: 'after it' })
  await expect.poll(shown).toEqual(['sandbox  the world was put back', 'alice  dm: after it'])
  await read()
})

test('the token file has the new token once the old one was refused', async () => {
  const { bot } = home()
  const before = readFileSync(dev.tokenFile, 'utf8').trim()
  const { token } = await dev.sandbox.control.issueToken({ botId: bot.id })
  expect((await call('GET /me', undefined, before)).error.code).toBe('unauthorized')
  await expect.poll(() => readFileSync(dev.tokenFile, 'utf8').trim()).toBe(token)
  await expect.poll(async () => (await call('GET /me')).ok, { timeout: 10_000 }).toBe(true)
})
