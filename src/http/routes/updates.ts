import { setTimeout as elapsed } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { LIMITS } from '../../api/limits.ts'
import { isOwnFailure, NoResponseError, Refusal } from '../../errors.ts'
import { withUpdates } from '../../translate/bot-view.ts'
import type { ConsumerPoll, Consumers } from '../../updates/consumers.ts'
import type { LoopNews } from '../../updates/delivery-loop.ts'
import type { PollTurn, Turn } from '../../updates/poll-turn.ts'
import type { QueueParts } from '../../updates/update-poller.ts'
import type { Webhook } from '../../updates/webhook.ts'
import { queryOf } from '../params.ts'
import { isGone, relay, whileConnected, type Relayed } from '../relay.ts'
import type { DoorRoute } from '../server.ts'

export interface UpdateRouteParts extends QueueParts {
  webhook: Webhook
  /** Null where no other sidecar can poll. */
  turns: Pick<PollTurn, 'tryTake' | 'take' | 'isWanted'> | null
  news: LoopNews
  consumers: Pick<Consumers, 'poll'> & { queue: Pick<Consumers['queue'], 'isShared'> }
}

/**
 * Pause after a failure: parsing megabytes of invalid JSON delays all other work, and so does
 * opening updates that then cannot be recorded.
 */
const HELD_BACK_MS = 1000
/** How long a poll that one of another replica has ended leaves that one alone. */
const GIVE_WAY_MS = 2000
const EMPTY = {
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Buffer.from('{"ok":true,"result":[]}'),
}
/** The answer of a poll that another replica's poll has ended. */
const REPLACED = { ...EMPTY }

interface Taking {
  /** The turn is ours, or its holder knows that it is wanted. */
  asked: Promise<unknown>
  /** The turn once it is ours; null when it does not become ours. */
  turn: Promise<Pick<Turn, 'isHeld'> | null>
}

/** The turn of a sidecar that is alone. */
const NO_OTHERS: Taking = { asked: Promise.resolve(), turn: Promise.resolve({ isHeld: true }) }

/**
 * `GET /updates`: the long poll is passed on with its query untouched; a hang-up on either side
 * ends the other. While the sidecar stops, and when the bot sets a webhook, polls end with an empty
 * list, which confirms nothing, as they do when a poll reaches another sidecar, which is left alone
 * for two seconds first. While a webhook is set, and while the store's database is out of reach, they
 * are refused.
 */
export function updateRoutes(parts: UpdateRouteParts): DoorRoute {
  return (app, { stopping }) => {
    app.get('/updates', async (request, reply) => {
      const gone = whileConnected(reply)
      const query = queryOf(request).slice(1)
      let webhookSet: AbortSignal | null = null
      try {
        // afterwards changes by other sidecars are known
        const lost = await parts.storeReach.begin()
        if (request.client === null) {
          const refused = await parts.webhook.refusePoll(AbortSignal.any([gone, stopping]))
          if (refused !== null) return relay(reply, refused)
          webhookSet = parts.webhook.pollsEnd
        }
        const own = webhookSet === null ? [] : [webhookSet, parts.news.signal]
        const signal = AbortSignal.any([gone, stopping, lost, ...own])
        const told = webhookSet && (await newsAnswer(query, reply, parts.news))
        if (told !== null) return relay(reply, told)
        if (request.client !== null || parts.consumers.queue.isShared) {
          const updates = await parts.consumers.poll(request.client, pollOf(query), signal)
          if (lost.aborted) throw outOfReach(null)
          return relay(reply, await withUpdates(EMPTY, updates))
        }
        const asked = { query, timeoutSeconds: timeoutOf(query), signal }
        const answer = await pollAmongReplicas(asked, parts).catch((error: unknown) => {
          throw lost.aborted ? outOfReach(error) : error
        })
        // updates that cannot be opened now stay at the service
        if (lost.aborted) throw outOfReach(null)
        return relay(reply, webhookSet?.aborted === true ? EMPTY : answer)
      } catch (error) {
        if (isGone(reply)) return reply.hijack()
        if (stopping.aborted || webhookSet?.aborted === true) return relay(reply, EMPTY)
        // a poll that was refused for a webhook hears nothing
        const told = webhookSet && (await newsAnswer(query, reply, parts.news))
        if (told !== null) return relay(reply, told)
        throw error
      }
    })
  }
}

/** The answer of a poll of the bot's for which there are updates of our own; it has heard once that is sent. */
async function newsAnswer(
  query: string,
  reply: FastifyReply,
  news: LoopNews,
): Promise<Relayed | null> {
  const below = confirmedBelow(new URLSearchParams(query))
  const pending = news.after(Math.max(0, below - 1))
  if (pending.length === 0) return null
  reply.raw.once('finish', () => void news.heard(pending.map(({ id }) => id)))
  return await withUpdates(
    EMPTY,
    pending.map(({ update }) => update),
  )
}

/** A poll of the bot's. */
interface BotPoll {
  /** The query unchanged, without the question mark. */
  query: string
  /** How long it may wait for updates. */
  timeoutSeconds: number
  /** Ends it. */
  signal: AbortSignal
}

/** Polls, and gives way where another replica's poll ends this one. */
async function pollAmongReplicas(asked: BotPoll, parts: UpdateRouteParts): Promise<Relayed> {
  const endsAtMs = performance.now() + asked.timeoutSeconds * 1000
  const answer = await pollInTurn(asked, parts)
  if (answer !== REPLACED) return answer
  // or two that poll would end each other's polls as fast as they can
  const leftMs = Math.max(0, endsAtMs - performance.now())
  await elapsed(Math.min(GIVE_WAY_MS, leftMs), undefined, { signal: asked.signal })
  return answer
}

/**
 * Polls once it has the turn or has asked for it in vain, which shows the other sidecar whose poll
 * ends its own at the service; that one then gives the turn back.
 */
async function pollInTurn(asked: BotPoll, parts: UpdateRouteParts): Promise<Relayed> {
  const { turns } = parts
  if (turns === null) return await poll(asked, parts, NO_OTHERS)
  const ended = new AbortController()
  const first = turns.tryTake()
  const signal = AbortSignal.any([asked.signal, ended.signal])
  const taking = first.then((turn) => turn ?? turns.take(signal))
  taking.catch(() => undefined)
  try {
    return await poll(asked, parts, { asked: first.catch(() => undefined), turn: taking })
  } finally {
    ended.abort()
    void taking.then((turn) => turn?.[Symbol.asyncDispose]()).catch(() => undefined)
  }
}

async function poll(
  { query, timeoutSeconds, signal }: BotPoll,
  parts: UpdateRouteParts,
  taking: Taking,
): Promise<Relayed> {
  const names = new URLSearchParams(query)
  await Promise.all([parts.recordConfirmed(confirmedBelow(names)), taking.asked])
  const watched = parts.polls.begin(timeoutSeconds)
  const answer = await parts.upstream
    .poll({ query, timeoutSeconds, signal })
    .catch((error: unknown) => heldBack(error, signal))
  const { envelope } = answer
  parts.onPolled(envelope.ok ? null : envelope.error.code)
  if (!envelope.ok) return answer
  const heads = parts.sightings.readUpdates(envelope.result)
  if (watched.wasTakenOver(heads.length)) {
    const isReplaced = (await parts.turns?.isWanted()) === true
    watched.takenOver(isReplaced ? 'replica' : undefined)
    return isReplaced ? REPLACED : answer
  }
  const limit = within(names.get('limit') ?? '', LIMITS.pollLimitMax)
  parts.backlog.recordPoll(heads, limit)
  if (parts.incoming === null || heads.length === 0) return answer
  const turn = await taking.turn
  if (turn?.isHeld !== true) return EMPTY
  const opened = await parts.incoming
    .open(heads, { gone: signal, hasMore: heads.length >= limit })
    .catch((error: unknown) => heldBack(error, signal))
  if (!turn.isHeld) return EMPTY
  return opened.changed ? await withUpdates(answer, opened.updates) : answer
}

function outOfReach(cause: unknown): Refusal {
  return new Refusal('postern_store_unwritable', 'the database is out of reach', { cause })
}

/** Delays the answer to a poll that the bot would otherwise repeat in a tight loop. */
async function heldBack(failure: unknown, signal: AbortSignal): Promise<never> {
  const isNonsense =
    failure instanceof NoResponseError && failure.code === 'postern_upstream_invalid'
  if (isNonsense || isOwnFailure(failure)) {
    await elapsed(HELD_BACK_MS, undefined, { signal }).catch(() => undefined)
  }
  throw failure
}

/** Below which id a poll confirms all updates: the highest that any reader could find in its query. */
function confirmedBelow(asked: URLSearchParams): number {
  const offsets = asked.getAll('offset').map((text) => within(text || '0', Number.MAX_SAFE_INTEGER))
  return Math.max(0, ...offsets.map(Math.floor))
}

/** A poll that the service does not see, by its rules. @throws Refusal `bad_request` */
function pollOf(query: string): ConsumerPoll {
  const names = new URLSearchParams(query)
  const read = (name: string, fallback: number, least: number, most: number): number => {
    const text = names.get(name) ?? String(fallback)
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new Refusal('bad_request', `${name}: expected a whole number from ${least} to ${most}`)
  }
  return {
    offset: read('offset', 0, 0, Number.MAX_SAFE_INTEGER),
    limit: read('limit', LIMITS.pollLimitMax, 1, LIMITS.pollLimitMax),
    timeoutMs: read('timeout', 0, 0, LIMITS.pollTimeoutMaxS) * 1000,
  }
}

/** Seconds that a poll may wait for updates. */
function timeoutOf(query: string): number {
  return within(new URLSearchParams(query).get('timeout') ?? '0', LIMITS.pollTimeoutMaxS)
}

/** Clamps a number for our own time limits; the service validates the query. */
function within(text: string, max: number): number {
  const asked = text === '' ? max : Number(text)
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), max) : 0
}
