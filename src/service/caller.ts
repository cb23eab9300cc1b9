import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { API_PREFIX } from '../api/endpoints.ts'
import type { NoResponseError } from '../errors.ts'
import { attempt, type Answer, type AttemptOutcome, type WireRequest } from './attempt.ts'
import type { Budget } from './budget.ts'
import type { UpstreamLimits } from './limits.ts'
import { endpointOf, routeOf } from './path.ts'

/** The bot's token, which may be read again from its source. */
export interface TokenSource {
  reveal(): string
  /** Reads it again; true when it changed. */
  reload(): Promise<boolean>
}

/** Whether an outcome may be followed by a second attempt of the same call. */
export type RepeatRule = (outcome: AttemptOutcome) => boolean

/** One logical call: the request, its total time limit and its retries; `path` is below the API prefix. */
export interface Call extends Pick<
  WireRequest,
  'method' | 'path' | 'body' | 'signal' | 'mayStream' | 'requireAllowed'
> {
  pool: Dispatcher
  /** The end of it all, of `performance.now()`. */
  untilMs: number
  /** The end of the first attempt. */
  firstUntilMs: number
  repeat: RepeatRule
  /** A call of the sidecar's own, whose attempts count. */
  own: boolean
  /** Asked before each attempt. @throws Refusal when the call must not be made any more */
  permitted?: (() => Promise<void>) | undefined
}

/** Called as calls are made; they must not throw. */
export interface UpstreamEvents {
  /** The service answered one attempt, with yes or no. `route` is a pattern, `ms` its duration. */
  answered(o: { route: string; status: number; code?: string; ms: number; own: boolean }): void
  /** A call ended without a usable answer. */
  unreachable(error: NoResponseError): void
  /** The service refuses the token, also after it was read again. */
  unauthorized(): void
  /** The owner has paused the bot. */
  paused(): void
  /** How far our clock is surely ahead of the service's (behind: negative), at each answer. */
  clock(skewMs: number): void
  /** After each call of the sidecar's own. */
  budget(o: { usedLastMinute: number; limit: number }): void
}

export interface CallerParts {
  origin: string
  /** Path of the base URL, without a slash at its end. */
  basePath: string
  token: TokenSource
  budget: Budget
  events: UpstreamEvents
  limits: UpstreamLimits
  /** No call begins after its abort; calls under way end with the pools. */
  stopping: AbortSignal
}

/**
 * Makes a call: attempts, the token read again after a 401, one repetition where the rule allows.
 * @returns the service's answer, ok or not
 * @throws NoResponseError without a usable response
 */
export async function makeCall(parts: CallerParts, call: Call): Promise<Answer> {
  const { events } = parts
  let outcome = await authorized(parts, call, { untilMs: call.firstUntilMs })
  if (call.repeat(outcome) && (await pauseBefore(parts, call))) {
    outcome = await authorized(parts, call, { untilMs: call.untilMs, isAgain: true })
  }
  if (outcome.kind !== 'answered') {
    if (outcome.kind !== 'given-up') events.unreachable(outcome.error)
    throw outcome.error
  }
  if (outcome.answer.status === 401) events.unauthorized()
  return outcome.answer
}

/** `isAgain`: it was attempted before. */
interface AttemptTurn {
  untilMs: number
  isAgain?: boolean
}

/** A 401 means that nothing was done: with another token the same call is made again. */
async function authorized(parts: CallerParts, call: Call, turn: AttemptTurn) {
  const { token } = parts
  const used = token.reveal()
  const outcome = await attemptWith(used, parts, call, turn)
  if (outcome.answer?.status !== 401) return outcome
  await token.reload().catch(() => false)
  const current = token.reveal()
  return current === used
    ? outcome
    : await attemptWith(current, parts, call, { ...turn, isAgain: true })
}

async function attemptWith(
  token: string,
  parts: CallerParts,
  call: Call,
  { untilMs, isAgain = false }: AttemptTurn,
): Promise<AttemptOutcome> {
  if (call.permitted !== undefined) await call.permitted()
  if (call.own && isAgain) parts.budget.count()
  const startedMs = performance.now()
  const endpoint = endpointOf(call.method, call.path)
  const isUpdates = endpoint?.name === 'getUpdates'
  const bound = isUpdates
    ? 'maxUpdatesBytes'
    : endpoint?.name === 'getChatKeys'
      ? 'maxKeysBytes'
      : 'maxBytes'
  const outcome = await attempt(call.pool, {
    ...call,
    origin: parts.origin,
    stopping: parts.stopping,
    path: `${parts.basePath}${API_PREFIX}${call.path}`,
    token,
    answer: isUpdates ? 'updates' : call.own ? 'own' : 'other',
    maxBytes: parts.limits[bound],
    timeoutMs: untilMs - startedMs,
  })
  reportOutcome(parts, call, outcome, { route: routeOf(call.method, endpoint), startedMs })
  return outcome
}

function reportOutcome(
  { budget, events }: CallerParts,
  { own }: Call,
  outcome: AttemptOutcome,
  { route, startedMs }: { route: string; startedMs: number },
): void {
  if (own) events.budget({ usedLastMinute: budget.used, limit: budget.limit })
  if (outcome.kind !== 'answered') return
  const { status, envelope } = outcome.answer
  const code = envelope.ok ? undefined : envelope.error.code
  const answered = { route, status, ms: performance.now() - startedMs, own }
  events.answered({ ...answered, ...(code !== undefined && { code }) })
  if (outcome.skewMs !== null) events.clock(outcome.skewMs)
  if (code === 'bot_paused') events.paused()
}

/** False when no time is left for another attempt, or nobody waits for it. */
async function pauseBefore(
  { limits: { retryPauseMs }, stopping }: CallerParts,
  { untilMs, signal }: Call,
): Promise<boolean> {
  if (performance.now() + retryPauseMs >= untilMs) return false
  const left = new AbortController()
  const leave = (): void => left.abort()
  signal?.addEventListener('abort', leave)
  const ended = AbortSignal.any([left.signal, stopping])
  await pause(retryPauseMs, undefined, { signal: ended }).catch(() => undefined)
  signal?.removeEventListener('abort', leave)
  return !stopping.aborted && signal?.aborted !== true
}

/** Edits, polls, and calls of the bot other than GET: a repetition could have an effect twice. */
export const never: RepeatRule = () => false

/** Calls that change nothing: when the connection failed before any answer, not when it was slow. */
export const ifUnreached: RepeatRule = ({ kind }) => kind === 'unreached'

/**
 * Sends, which carry a `sendId` (spec, Errors, rule 3): whenever the answer was lost, since the
 * message may or may not have been written. That is also so when a success cannot be read, or when
 * the failure is the server's own. A 429 or a refusal is an answer.
 */
export const ifAnswerLost: RepeatRule = (outcome) => {
  const { kind } = outcome
  if (kind === 'answered') return outcome.answer.status === 500
  if (kind === 'unusable') {
    return outcome.status === null || outcome.status < 300 || outcome.status >= 500
  }
  return kind === 'unreached' || kind === 'cut' || kind === 'late'
}
