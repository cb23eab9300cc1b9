// A person as a tool of an agent: an MCP server over stdio that asks in a sealed chat and waits for the
// signed reply. Needs Node 20 and the packages of package.json.
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const { BASE_URL = 'http://127.0.0.1:8700' } = process.env
const [chatId, personId] = [process.env.CHAT_ID, process.env.PERSON_ID].map((id) =>
  Number(id ?? NaN),
)
if (!Number.isSafeInteger(chatId) || !Number.isSafeInteger(personId)) {
  throw new Error('CHAT_ID and PERSON_ID must be the ids of a chat and a person')
}
const CLOCKS_MS = 120_000 // by which the clocks of phone and machine may differ
const news = new EventEmitter().setMaxListeners(0)
const replies = new Map() // the last signed replies of the person, by the message that they quote
let isReading = false

async function call(path, body, signal = AbortSignal.timeout(75_000)) {
  // The token is read each time, since it may have been replaced.
  const token = readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
  const response = await fetch(`${BASE_URL}/bot/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal,
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const { ok, result, error } = await response.json()
  if (ok) return result
  // A token can be replaced, and a pause can end.
  const { status, code } = error
  const isTransient = status >= 500 || [401, 429].includes(status) || code === 'bot_paused'
  throw Object.assign(new Error(code), { isFinal: !isTransient })
}

// Reads the client's updates for as long as the server runs, so that it holds nobody up.
async function read() {
  for (let offset = 0, seconds = 1; ;) {
    try {
      for (const { updateId, message } of await call(
        `/updates?timeout=${isReading ? 50 : 0}&offset=${offset}`,
      )) {
        offset = updateId + 1
        if (message !== undefined) note(message)
      }
      isReading = true
      news.emit('change')
      seconds = 1
    } catch (error) {
      console.error(`${error.cause?.code ?? error.message}: reading again in ${seconds} s`)
      await pause(seconds * 1000)
      seconds = Math.min(seconds * 2, 30)
    }
  }
}

// Keeps a reply that counts: of this person, in this chat, signed without any doubt.
function note({ chat, from, replyTo, text, postern = {} }) {
  const quoted = replyTo?.id ?? replyTo
  if (chat.id !== chatId || from?.id !== personId || quoted === null) return
  const { verdict, reason, signedAt } = postern
  if (verdict !== 'verified' || reason !== undefined) {
    console.error(`a reply does not count: ${verdict ?? 'the chat is readable'} ${reason ?? ''}`)
    return
  }
  if (!replies.has(quoted)) replies.set(quoted, { text, signedAt })
  if (replies.size > 100) replies.delete(replies.keys().next().value)
  news.emit('change')
}

async function ask(question, waitSeconds, cancelled) {
  const askedAt = Date.now()
  const deadline = AbortSignal.timeout(waitSeconds * 1000)
  const signal = AbortSignal.any([deadline, cancelled])
  const until = async (isTrue) => {
    while (!isTrue()) await once(news, 'change', { signal })
  }
  const retried = async (action) => {
    for (let seconds = 1; ; seconds = Math.min(seconds * 2, 30)) {
      try {
        return await action()
      } catch (error) {
        if (error.isFinal || signal.aborted) throw error
        await pause(seconds * 1000, undefined, { signal })
      }
    }
  }
  let problem = `the question could not be sent within ${waitSeconds} s`
  try {
    await until(() => isReading)
    const chat = await retried(() => call(`/chats/${chatId}`, undefined, signal))
    if (!chat.postern.latched)
      throw Object.assign(new Error('the chat is readable'), { isFinal: true })
    const time = new Date(askedAt + waitSeconds * 1000).toISOString().slice(11, 16)
    const text = `${question}\n\nReply to this message to answer, until ${time} UTC.`
    const body = { chatId, text, sendId: randomUUID() }
    const { id } = await retried(() => call('/messages', body, signal))
    problem = `no signed reply within ${waitSeconds} s`
    const isAnswered = () => replies.get(id)?.signedAt >= askedAt - CLOCKS_MS
    await until(isAnswered)
    return { content: [{ type: 'text', text: replies.get(id).text }] }
  } catch (error) {
    if (error.isFinal) problem = `the question is not sent: ${error.message}`
    else if (!signal.aborted) throw error
    return { content: [{ type: 'text', text: problem }], isError: true }
  }
}

serveStdio(() => {
  const server = new McpServer({ name: 'ask-person', version: '1.0.0' })
  const inputSchema = z.object({
    question: z.string().trim().min(1).max(3500).describe('in full: the person sees nothing else'),
    waitSeconds: z.int().min(1).max(3600).default(600).describe('how long to wait for the reply'),
  })
  const description =
    'Asks a person in an encrypted chat and waits for the signed reply. Fails if none arrives in time.'
  server.registerTool('ask_person', { description, inputSchema }, async (input, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {}
    let progress = 0
    // so that the agent does not give up meanwhile
    const timer = setInterval(async () => {
      const params = { progressToken, progress: ++progress, message: 'waiting for the person' }
      if (progressToken === undefined) return
      await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    }, 10_000)
    try {
      return await ask(input.question, input.waitSeconds, mcpReq.signal)
    } finally {
      clearInterval(timer)
    }
  })
  return server
})
process.stdin.on('close', () => process.exit(0))
read()
