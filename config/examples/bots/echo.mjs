// A small bot in Node that keeps running: says again what it reads. Needs nothing but Node.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const api = `${process.env.BASE_URL ?? 'http://127.0.0.1:8700'}/bot/v1`

// Calls until there is an answer. Throws where the service refuses what was sent (4xx).
async function call(path, body) {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, 30)) {
    const { ok, result, error, retryAfter } = await callOnce(path, body)
    if (ok) return result
    if (body !== undefined && isFinal(error)) throw new Error(error.code)
    const wait = Math.max(seconds, Number(retryAfter) || 0)
    console.error(`${error.code}: trying again in ${wait} s`)
    await pause(wait * 1000)
  }
}

async function callOnce(path, body) {
  try {
    // The token is read each time, since it may have been replaced.
    const token = readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
    const response = await fetch(api + path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(75_000), // a poll waits for 50 seconds
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
    return { ...(await response.json()), retryAfter: response.headers.get('retry-after') }
  } catch (error) {
    return { ok: false, error: { status: 0, code: error.cause?.code ?? error.message } }
  }
}

// Whether it would be refused again. A token can be replaced, and a pause can end.
function isFinal({ status, code }) {
  return status >= 400 && status < 500 && ![401, 429].includes(status) && code !== 'bot_paused'
}

async function handle({ updateId, message }) {
  if (!message?.text) return
  await call('/messages', {
    chatId: message.chat.id,
    text: `you said: ${message.text}`,
    replyTo: message.id,
    // The same for the same update, so that the answer is given once, however often it is sent.
    sendId: `00000000-0000-4000-8000-${updateId.toString(16).padStart(12, '0')}`,
  })
}

const { username } = await call('/me')
console.error(`running as @${username}`)
for (let offset = 0; ;) {
  for (const update of await call(`/updates?timeout=50&offset=${offset}`)) {
    try {
      await handle(update)
    } catch (error) {
      console.error(`update ${update.updateId} is skipped: ${error.message}`)
    }
    // Handled or skipped: the next poll confirms it, and it does not come again.
    offset = update.updateId + 1
  }
}
