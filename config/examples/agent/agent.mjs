// An agent that drafts a message, which a person approves before it leaves. Needs nothing but Node.
//   node agent.mjs CHAT WORDS...
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const base = process.env.BASE_URL ?? 'http://127.0.0.1:8700'

function end(why) {
  console.error(why)
  process.exit(1)
}

async function call(path, body) {
  const token = readFileSync(process.env.AGENT_TOKEN_FILE, 'utf8').trim()
  const response = await fetch(base + path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(30_000),
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const { ok, result, error } = await response.json()
  return ok ? result : end(`refused: ${error.code}`)
}

const [chat, ...words] = process.argv.slice(2)
const given = await call('/bot/v1/messages', { chatId: Number(chat), text: words.join(' ') })
let entry = given.postern?.outbox
if (entry === undefined) end('sent at once: no rule of `approve` covers this call')
console.log(`${entry.state}: ${entry.id}`)
while (['asked', 'waiting'].includes(entry.state)) {
  await pause(1000)
  entry = await call(`/postern/v1/outbox/${entry.id}`)
}
console.log(entry.code === null ? entry.state : `${entry.state}: ${entry.code}`)
