// The smallest bot in Node: says again what it reads. Needs nothing but Node.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const base = `${process.env.BASE_URL ?? 'http://127.0.0.1:8700'}/bot/v1`
const token = readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

async function call(path, init) {
  for (;;) {
    const answer = await fetch(base + path, { headers, ...init })
    const { ok, result, error } = await answer.json()
    if (ok) return result
    if (answer.status !== 429 && answer.status !== 503) throw new Error(error.message)
    await pause(Number(answer.headers.get('retry-after') ?? 1) * 1000)
  }
}

for (let offset = 0; ;) {
  for (const { updateId, message } of await call(`/updates?timeout=50&offset=${offset}`)) {
    offset = updateId + 1
    if (!message?.text) continue
    const answer = {
      chatId: message.chat.id,
      text: `you said: ${message.text}`,
      replyTo: message.id,
    }
    await call('/messages', { method: 'POST', body: JSON.stringify(answer) })
  }
}
