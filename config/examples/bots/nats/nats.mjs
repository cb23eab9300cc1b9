// Updates into a stream of NATS JetStream, each once. Needs Node 20 and the packages of package.json.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, credsAuthenticator, nanos } from '@nats-io/transport-node'

const { BASE_URL = 'http://127.0.0.1:8700', NATS_URL = 'nats://127.0.0.1:4222' } = process.env
const { NATS_STREAM = 'POSTERN', NATS_SUBJECT = 'postern.updates', NATS_CREDS_FILE } = process.env
const REPEATS_MS = 3_600_000 // for so long the stream recognizes a repeated update

// Tries something until it works, after 1, 2, 4 seconds, and every 30 at last.
async function untilDone(action) {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, 30)) {
    try {
      return await action()
    } catch (error) {
      const wait = Math.max(seconds, Number(error.retryAfter) || 0)
      console.error(`${error.cause?.code ?? error.message}: trying again in ${wait} s`)
      await pause(wait * 1000)
    }
  }
}

async function poll(offset) {
  // The token is read each time, since it may have been replaced.
  const token = readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
  const response = await fetch(`${BASE_URL}/bot/v1/updates?timeout=50&offset=${offset}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(75_000),
  })
  const { ok, result, error } = await response.json()
  if (ok) return result
  throw Object.assign(new Error(error.code), { retryAfter: response.headers.get('retry-after') })
}

async function addStream() {
  const { streams } = await jetstreamManager(nats)
  const known = await streams.info(NATS_STREAM).catch((error) => {
    if (error.name !== 'StreamNotFoundError') throw error
  })
  const stream = { name: NATS_STREAM, subjects: [NATS_SUBJECT] }
  if (!known) await streams.add({ ...stream, duplicate_window: nanos(REPEATS_MS) })
}

const nats = await connect({
  servers: NATS_URL,
  waitOnFirstConnect: true,
  maxReconnectAttempts: -1,
  ...(NATS_CREDS_FILE && { authenticator: credsAuthenticator(readFileSync(NATS_CREDS_FILE)) }),
})
// The connection ends by itself only where the server refuses the credentials.
nats.closed().then((error) => {
  console.error(`NATS: ${error?.message ?? 'the connection is closed'}`)
  process.exit(1)
})
await untilDone(addStream)
console.error(`publishing to ${NATS_SUBJECT} of ${nats.getServer()}`)

const stream = jetstream(nats)
for (let offset = 0; ;) {
  for (const update of await untilDone(() => poll(offset))) {
    const msgID = `${NATS_SUBJECT}.${update.updateId}`
    await untilDone(() => stream.publish(NATS_SUBJECT, JSON.stringify(update), { msgID }))
    // The stream has acknowledged it: the next poll confirms it.
    offset = update.updateId + 1
  }
}
