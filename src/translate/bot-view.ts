/** Answers of the service as the bot sees them: every chat readable. */
import { isObject } from '../api/common.ts'
import type { ApiError } from '../api/envelope.ts'
import { unobserved } from '../kernel/index.ts'
import type { ClearField, ClearFields, Recipients, Unseen } from '../kernel/index.ts'
import { RESULT_NAMES } from '../api/judged-names.ts'
import { NoResponseError, type RawAnswer } from '../errors.ts'
import { stringify, stringifyAnswer } from '../util/exact-json.ts'

/** An answer of the service in its envelope. */
export type EnvelopedAnswer = RawAnswer & {
  envelope: { ok: true; result: Unseen } | { ok: false; error: ApiError }
}

type Result = Record<string, unknown>

/**
 * Writes an answer anew around a changed result; status and headers stay.
 * @param result the parsed result of a successful answer
 */
export const withResult = <A extends RawAnswer>(answer: A, result: unknown): A => ({
  ...answer,
  body: Buffer.from(stringify({ ok: true, result })),
})

/** The same with updates, of which there may be megabytes. */
export const withUpdates = async <A extends RawAnswer>(
  answer: A,
  updates: unknown[],
): Promise<A> => ({ ...answer, body: await stringifyAnswer({ ok: true, result: updates }) })

/**
 * A result that must be an object, without names that some parser would read as one that we read or
 * write in it.
 * @throws NoResponseError `postern_upstream_invalid`
 */
export function objectResult(result: unknown, what: string): Result {
  if (!isObject(result)) throw new NoResponseError('postern_upstream_invalid', what)
  return Object.fromEntries(
    Object.entries(result).filter(([name]) => !RESULT_NAMES.isImpostor(name)),
  )
}

/** A successful answer that names under `postern` which fields went in clear, where it has to. */
export function withClearFields<A extends EnvelopedAnswer>(
  answer: A,
  clear: readonly ClearField[],
  clearFields: Pick<ClearFields, 'taken'>,
): A {
  const { envelope } = answer
  if (clear.length === 0 || !envelope.ok) return answer
  const result = unobserved(envelope.result)
  if (!isObject(result)) return answer
  const named = clearFields.taken(clear)
  if (Object.keys(named).length === 0) return answer
  return withResult(answer, { ...objectResult(result, 'an answer'), postern: named })
}

/** `GET /me`: an open bot; the service's values are under `postern`. */
export function meView(bot: Result, key: { state: string; fingerprint: string | null }): Result {
  const truth = {
    mode: bot['mode'],
    fingerprint: bot['fingerprint'] ?? null,
    key: key.fingerprint,
    publication: key.state,
  }
  return { ...bot, mode: 'open', fingerprint: null, postern: truth }
}

/** The bot's own webhook. */
export interface OwnWebhook {
  /** As the bot gave it. */
  url: string
  secret: string | null
  /** Failed deliveries in a row, and the error of the last. */
  failures: number
  lastError: string | null
  /** When the next delivery is tried, ms since epoch; null when none is waiting for its time. */
  nextAttemptAt: number | null
}

/** `GET /me` while the bot has a webhook of its own; `ahead` updates were delivered already. */
export const withOwnWebhook = (bot: Result, own: OwnWebhook, ahead: number): Result => ({
  ...bot,
  webhook: stateOf(own),
  ...(isCount(bot['queued']) && { queued: less(bot['queued'], ahead) }),
})

const INFO = new Set(['url', 'hasSecret', 'pending', 'failures', 'lastError'])

/**
 * `GET /webhook` likewise. The spec leaves open the name of the next attempt's time: it is the one
 * further name in the service's answer, else `nextAttemptAt`.
 */
export function webhookView(info: Result, own: OwnWebhook, ahead: number): Result {
  const next = Object.keys(info).find((name) => !INFO.has(name)) ?? 'nextAttemptAt'
  const { url, hasSecret, ...state } = stateOf(own)
  const pending = isCount(info['pending']) ? less(info['pending'], ahead) : info['pending']
  return { url, hasSecret, pending, ...state, [next]: own.nextAttemptAt }
}

const stateOf = ({ url, secret, failures, lastError }: OwnWebhook) => ({
  url,
  hasSecret: secret !== null,
  failures,
  lastError,
})

const isCount = (value: unknown): value is number => typeof value === 'number'
const less = (count: number, ahead: number): number => Math.max(0, count - ahead)

/** `GET /chats/{chatId}`: a readable chat; `postern.mode` is the service's mode. */
export const chatView = (chat: Result, truth: { latched: boolean }): Result => ({
  ...chat,
  mode: 'open',
  postern: { mode: chat['mode'], latched: truth.latched },
})

/**
 * A sealed send or edit: its recipients and the people skipped. Sealed text is echoed as text.
 * @param o `more` further fields of `postern`
 */
export function sentView(
  sent: Result,
  o: { text: string; recipients: Recipients; more?: Result },
): Result {
  const { text, recipients, more = {} } = o
  const { armored, text: claimed, ...rest } = sent
  return {
    ...rest,
    ...(armored === undefined && claimed === undefined ? {} : { text }),
    postern: {
      sealed: true,
      recipients: recipients.certificates.length,
      skipped: recipients.skipped,
      ...more,
    },
  }
}
