// server.mjs as an agent starts it, with the sandbox, a sidecar and a person's phone: node --test
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createSandbox } from 'postern/sandbox'
import { startSidecar } from 'postern/testing'

const folder = mkdtempSync(join(tmpdir(), 'mcp-'))
const BOT_TOKEN_FILE = join(folder, 'token')
const token = `pstn_${'t'.repeat(32)}`
writeFileSync(BOT_TOKEN_FILE, token, { mode: 0o600 })

let sandbox, alice, sidecar, agent
const open = []

async function startAgain() {
  const port = sidecar === undefined ? 0 : Number(new URL(sidecar.url).port)
  await sidecar?.stop()
  const { alice: person, encryptedGroup, readableGroup } = sandbox.home
  const agentClient = {
    name: 'agent',
    may: ['send', 'read'],
    persons: [person.id],
    chats: [encryptedGroup, readableGroup],
    files: false,
  }
  sidecar = await startSidecar({
    upstream: sandbox.url,
    token: sandbox.token,
    dataDir: join(folder, 'data'),
    settings: {
      listen: { port },
      clients: { list: [{ ...agentClient, tokenFile: BOT_TOKEN_FILE }], only: true },
    },
  })
}

/** An agent with the server for a chat. */
async function connect(chatId) {
  const env = { BASE_URL: sidecar.url, BOT_TOKEN_FILE, PATH: process.env.PATH }
  const client = new Client({ name: 'agent', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['server.mjs'],
      env: { ...env, CHAT_ID: String(chatId), PERSON_ID: String(alice.userId) },
      stderr: 'ignore',
    }),
  )
  open.push(client)
  return client
}

/** Asks. @returns what the agent is answered, once it is */
async function ask(question, { waitSeconds = 60, client = agent, ...options } = {}) {
  const call = { name: 'ask_person', arguments: { question, waitSeconds } }
  const { content, isError = false } = await client.callTool(call, options)
  return { text: content[0].text, isError }
}

const seen = (question) => alice.seen(({ text }) => text.startsWith(`${question}\n`), 30_000)

before(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  alice = await sandbox.phone(sandbox.home.alice.id)
  await startAgain()
  await alice.write(sandbox.home.privateChat, 'hello')
  agent = await connect(sandbox.home.privateChat)
})

after(async () => {
  for (const client of open) await client.close()
  await sidecar?.stop()
  await sandbox?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('the agent finds one tool and its arguments', async () => {
  const { tools } = await agent.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['ask_person'],
  )
  assert.deepEqual(tools[0].inputSchema.required, ['question'])
  for (const input of [{}, { question: ' ' }, { question: 'x', waitSeconds: 0 }]) {
    const call = { name: 'ask_person', arguments: input }
    const refused = await agent.callTool(call).catch((error) => ({ isError: true, error }))
    assert.equal(refused.isError, true)
  }
})

test('the signed reply to the question is the answer', async () => {
  const asked = ask('Which port?')
  const question = await seen('Which port?')
  assert.equal(question.verdict, 'verified')
  assert.match(question.text, /\n\nReply to this message to answer, until \d\d:\d\d UTC\.$/)
  await alice.write(question.chatId, '8700', { replyTo: question.messageId })
  assert.deepEqual(await asked, { text: '8700', isError: false })
  assert.deepEqual(sandbox.transcript.search('Which port?'), [])
})

test('two questions at once have their own answers', async () => {
  const asked = [ask('First?'), ask('Second?')]
  for (const words of ['Second?', 'First?']) {
    const { chatId, messageId } = await seen(words)
    await alice.write(chatId, `to ${words}`, { replyTo: messageId })
  }
  const texts = (await Promise.all(asked)).map(({ text }) => text)
  assert.deepEqual(texts, ['to First?', 'to Second?'])
})

test('a reply that is unsigned, replayed, of somebody else or to something else does not count', async () => {
  const chatId = sandbox.home.encryptedGroup
  const client = await connect(chatId)
  const earlier = await alice.write(chatId, 'yes')
  const asked = ask('Delete all?', { client })
  const { messageId: replyTo } = await seen('Delete all?')
  const bob = await sandbox.phone(sandbox.home.bob.id)
  await bob.write(chatId, 'yes, says bob', { replyTo })
  await alice.write(chatId, 'yes, to nothing')
  await alice.write(chatId, 'yes, to another', { replyTo: earlier })
  const { userId } = alice
  await sandbox.control.post({ userId, chatId, text: 'yes, unsigned', replyTo })
  const messages = await sandbox.control.messages({ chatId })
  const { armored } = messages.find(({ id }) => id === earlier)
  await sandbox.control.post({ userId, chatId, armored, replyTo })
  await alice.write(chatId, 'no', { replyTo })
  assert.deepEqual(await asked, { text: 'no', isError: false })
})

test('no reply in time is an error', async () => {
  const asked = ask('Still there?', { waitSeconds: 3 })
  const { messageId, chatId } = await seen('Still there?')
  assert.deepEqual(await asked, { text: 'no signed reply within 3 s', isError: true })
  await alice.write(chatId, 'too late', { replyTo: messageId })
})

test('a cancelled question ends, and the next one is answered', async () => {
  const controller = new AbortController()
  const asked = ask('Cancelled?', { signal: controller.signal })
  await seen('Cancelled?')
  controller.abort()
  await assert.rejects(asked)
  const next = ask('Next?')
  const { chatId, messageId } = await seen('Next?')
  await alice.write(chatId, 'yes', { replyTo: messageId })
  assert.equal((await next).text, 'yes')
})

test('a question is sent to no readable chat, and refusals are named', async () => {
  const client = await connect(sandbox.home.readableGroup)
  const readable = { text: 'the question is not sent: the chat is readable', isError: true }
  assert.deepEqual(await ask('In clear?', { client }), readable)
  assert.deepEqual(sandbox.transcript.search('In clear?'), [])
  sandbox.fault('error', { route: 'sendMessage', times: 1, status: 403, code: 'blocked_by_user' })
  const blocked = { text: 'the question is not sent: blocked_by_user', isError: true }
  assert.deepEqual(await ask('Blocked?'), blocked)
})

test('a question waits for the sidecar, and is asked once', async () => {
  const port = new URL(sidecar.url).port
  await sidecar.stop()
  const late = await ask('While it is away?', { waitSeconds: 2 })
  assert.deepEqual(late, { text: 'the question could not be sent within 2 s', isError: true })
  const asked = ask('When it is back?')
  await startAgain()
  assert.equal(new URL(sidecar.url).port, port)
  const { chatId, messageId } = await seen('When it is back?')
  await startAgain()
  await alice.write(chatId, 'now', { replyTo: messageId })
  assert.deepEqual(await asked, { text: 'now', isError: false })
  const copies = alice.inbox.filter(({ text }) => text.startsWith('When it is back?'))
  assert.equal(copies.length, 1)
})
