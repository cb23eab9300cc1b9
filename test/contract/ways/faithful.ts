import assert from 'node:assert/strict'
import type { Sandbox } from '../../../src/sandbox/create.ts'
import type { TranscriptCall } from '../../../src/sandbox/transcript.ts'
import type { Answer, Call } from '../client.ts'

/** What the sidecar translates for a protected bot; everything else it hands on as it is. */
const TRANSLATED = [
  /^GET \/me$/,
  /^GET \/updates$/,
  /^(POST|PATCH) \/messages(\/|$)/,
  /^GET \/chats\/[^/]+(\/keys)?$/,
]

/** What shows the bot's own webhook, which the service does not know, and how that is shown. */
const WEBHOOK = /^GET \/(me|webhook)$/
const OF_WEBHOOK = new Set([
  'webhook',
  'queued',
  'url',
  'hasSecret',
  'pending',
  'failures',
  'lastError',
  'nextAttemptAt',
])

/** Calls whose answer reports the parts that were sent in clear into an encrypted chat. */
const NAMES_CLEAR = /^POST \/callbacks\//
const ADDED = new Set(['postern'])

/** The fields that translation may change or add; all others are the service's. */
const CHANGED = new Set(['postern', 'text', 'armored', 'mode', 'fingerprint'])

/**
 * Compares the bot's calls and answers with those at the service: status and
 * every byte of the body, and the JSON of the request. What the sidecar answers by itself can
 * only be a refusal.
 */
export class Faithful {
  readonly #sandbox: Sandbox
  readonly #translates: boolean
  #newest = 0
  /** Answers that were compared. */
  compared = 0

  /** @param o `translates`: the sidecar manages a key, and some answers are its own work */
  constructor(o: { sandbox: Sandbox; translates: boolean }) {
    this.#sandbox = o.sandbox
    this.#translates = o.translates
  }

  /** The number of the service's newest call, to be read before the bot's call. */
  mark(): number {
    this.#newest = this.#sandbox.transcript.list(this.#newest).at(-1)?.n ?? this.#newest
    return this.#newest
  }

  /** @param since what `mark` gave before the call */
  check(call: Call, answer: Answer, since: number): void {
    const route = `${call.method} ${call.path.split('?', 1)[0]}`
    // The sidecar delivers itself, so its calls to the service are not those of the bot.
    if (call.outside === true || route === 'POST /webhook') return
    const isTranslated = this.#translates && TRANSLATED.some((pattern) => pattern.test(route))
    const asked = this.#sandbox.transcript
      .list(since)
      .filter(({ method, path }) => method === call.method && path === `/bot/v1${call.path}`)
    if (asked.length === 0) {
      assert.ok(answer.status >= 400, `${route}: the service was asked, with the same path`)
      return
    }
    const isShown = WEBHOOK.test(route) && !asked.some((seen) => isSameAnswer(seen, answer))
    if (isTranslated || isShown) {
      const names = isShown ? new Set([...CHANGED, ...OF_WEBHOOK]) : CHANGED
      const same = asked.some((seen) => isSameButFor(names, seen, answer))
      assert.ok(answer.status >= 400 || same, `${route}: all but the words is the service’s own`)
      return
    }
    const mayAdd = this.#translates && NAMES_CLEAR.test(route)
    assert.ok(
      asked.some(
        (seen) => isSameAnswer(seen, answer) || (mayAdd && isSameButFor(ADDED, seen, answer)),
      ),
      `${route}: the answer is the service’s own, byte for byte`,
    )
    assert.ok(
      asked.some((seen) => isSameRequest(seen, call)),
      `${route}: the service was told what the bot said`,
    )
    this.compared++
  }
}

function isSameAnswer(seen: TranscriptCall, answer: Answer): boolean {
  return seen.status === answer.status && Buffer.from(seen.answer).equals(answer.body)
}

function isSameButFor(names: Set<string>, seen: TranscriptCall, answer: Answer): boolean {
  const rest = (json: string): unknown =>
    JSON.parse(json, (name, value: unknown) => (names.has(name) ? undefined : bare(value)))
  return seen.status === answer.status && isSameJson(rest(seen.answer), rest(String(answer.body)))
}

/** The url of an attachment without the right that the sidecar puts into it. */
function bare(value: unknown): unknown {
  const isUrl = typeof value === 'string' && /^\/media\/[^/?]+\?chat=/.test(value)
  return isUrl ? value.slice(0, value.indexOf('?')) : value
}

/** The same JSON; the sidecar adds a `sendId` to a send without one, for safe repetition. */
function isSameRequest(seen: TranscriptCall, call: Call): boolean {
  if (call.raw !== undefined) return true
  if (call.body === undefined) return seen.body === ''
  const received = JSON.parse(seen.body) as Record<string, unknown>
  const sent = JSON.parse(JSON.stringify(call.body)) as Record<string, unknown>
  const { sendId = received['sendId'], ...rest } = sent
  return isSameJson(received, sendId === undefined ? rest : { ...rest, sendId })
}

function isSameJson(one: unknown, other: unknown): boolean {
  try {
    assert.deepStrictEqual(one, other)
    return true
  } catch {
    return false
  }
}
