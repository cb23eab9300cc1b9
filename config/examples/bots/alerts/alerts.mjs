// Alerts of Alertmanager and Grafana, written into a sealed chat. Needs nothing but Node 20.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { BASE_URL = 'http://127.0.0.1:8700', CHAT_ID, PORT = '9087' } = process.env
const MOST_BYTES = 1 << 20
let textMax // the service's limit, once it is known

const digest = (text) => createHash('sha256').update(text).digest()

// A file is read each time, since a token or the secret may have been replaced.
const bearer = (file) => `Bearer ${readFileSync(process.env[file], 'utf8').trim()}`

async function call(path, body) {
  const response = await fetch(`${BASE_URL}/bot/v1${path}`, {
    headers: { authorization: bearer('BOT_TOKEN_FILE'), 'content-type': 'application/json' },
    signal: AbortSignal.timeout(20_000),
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const { ok, result, error } = await response.json()
  if (!ok) throw Object.assign(new Error(error.code), { status: error.status })
  return result
}

// Gives the status to answer: after 5xx the same alerts are delivered again, else not.
async function receive(request) {
  const shown = digest(request.headers.authorization ?? '')
  if (!timingSafeEqual(shown, digest(bearer('SECRET_FILE')))) return 401
  const chunks = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if ((bytes += chunk.length) > MOST_BYTES) return 413
    chunks.push(chunk)
  }
  let group
  try {
    group = readGroup(JSON.parse(Buffer.concat(chunks)))
  } catch {
    return 400
  }
  try {
    textMax ??= (await call('/me')).limits.textMax
    const text = textOf(group, textMax)
    await call('/messages', { chatId: Number(CHAT_ID), text, sendId: group.sendId })
    return 204
  } catch (error) {
    // These refuse the text itself. Any other refusal may end, once its cause is repaired.
    const isFinal = [400, 413, 422].includes(error.status)
    console.error(`${isFinal ? 'alerts are lost' : 'not sent yet'}: ${error.message}`)
    return isFinal ? 204 : 503
  }
}

function readGroup({ groupKey, groupLabels, receiver, alerts, truncatedAlerts }) {
  const firing = alerts.filter(({ status }) => status !== 'resolved')
  const resolved = alerts.filter(({ status }) => status === 'resolved')
  // The same id for the same alerts in the same states: they are one message, however often they are
  // delivered, also by several Alertmanagers of a cluster.
  const states = alerts.map((alert) => [alert.fingerprint, alert.status, alert.startsAt].join())
  const hash = digest(JSON.stringify([CHAT_ID, groupKey, states.sort()])).toString('hex')
  const sendId = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')
  const name = Object.values(groupLabels).join(' ') || receiver
  const head = oneLine(`firing ${firing.length}, resolved ${resolved.length}: ${name}`)
  const lines = [...firing, ...resolved].map(({ status, labels, annotations }) => {
    const { alertname, ...others } = labels
    const pairs = Object.entries(others).map((pair) => pair.join('='))
    const words = annotations?.summary ?? annotations?.description ?? ''
    return oneLine(`${status}: ${[alertname, ...pairs, words].join(' ')}`)
  })
  return { sendId, head, lines, more: Number(truncatedAlerts ?? 0) }
}

// Without characters that the service refuses in a text.
const oneLine = (text) => clip(text.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ').trim(), 500)
const clip = (text, max) =>
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/\p{Cs}$/u, '')}…`

function textOf({ head, lines, more }, max) {
  for (let shown = Math.min(lines.length, 100); ; shown--) {
    const left = lines.length - shown + more
    const text = [head, ...lines.slice(0, shown), ...(left > 0 ? [`and ${left} more`] : [])].join(
      '\n',
    )
    if (text.length <= max || shown === 0) return clip(text, max)
  }
}

if (!Number.isSafeInteger(Number(CHAT_ID ?? NaN))) throw new Error('CHAT_ID is no id of a chat')
if (bearer('SECRET_FILE').length < 24) throw new Error('the secret has less than 16 characters')
const server = createServer({ requestTimeout: 10_000 }, async (request, response) => {
  const status = await receive(request).catch((error) => (console.error(error.message), 503))
  response.writeHead(status, { connection: 'close' }).end()
})
server.listen(Number(PORT), '127.0.0.1', () => {
  console.error(`waiting for alerts on port ${server.address().port}`)
})
