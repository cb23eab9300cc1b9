/** Who waits after a failure that passes: a client, a chat, or all chats once a second one fails likewise. */
import type { OutboxEntry } from './entries.ts'

/** What a failure that passes may hold up; `all` only where another chat's head fails likewise. */
export type Extent = 'client' | 'chat' | 'all'

interface Block {
  /** By the monotonic clock. */
  untilMs: number
  /** Doubled by each failure. */
  waitMs: number
  /** It failed as all might, and nothing has shown yet whose trouble it is. */
  isSuspect: boolean
  /** Others could be written to meanwhile: the trouble is this chat's own until it was written to. */
  isOwn: boolean
}

/** Nothing has failed. */
const FREE: Block = { untilMs: 0, waitMs: 0, isSuspect: false, isOwn: false }
const WAIT_MS = { first: 1000, last: 60_000 }
/** Between two requests of clients in an approver's chat, where the bot itself may write meanwhile. */
const PACE_MS = 10_000
const ALL = 'all'

/** The chat that an entry is written to next: that of its approver, while a word is asked for. */
export const placeOf = ({ state, chatId, approval }: OutboxEntry): number =>
  state === 'asked' ? (approval?.requests[0]?.chatId ?? chatId) : chatId

const requestsTo = (entry: OutboxEntry): string => `requests of clients to ${placeOf(entry)}`

const callerOf = ({ client }: OutboxEntry): string => `client ${client}`

/** @param nowMs monotonic */
export function createBlocks(nowMs: () => number) {
  const waits = new Map<number | string, Block>()

  const hold = (key: number | string, retryMs: number | null): Block => {
    const before = waits.get(key) ?? FREE
    const waitMs = Math.min(Math.max(before.waitMs * 2, WAIT_MS.first), WAIT_MS.last)
    const asksMs = retryMs === null ? waitMs : Math.max(retryMs, WAIT_MS.first)
    const wait = { ...before, waitMs, untilMs: nowMs() + asksMs }
    waits.set(key, wait)
    return wait
  }

  return {
    /** How long an entry must still wait, in ms. */
    untilFreeMs: (entry: OutboxEntry): number => {
      const isRequest = entry.state === 'asked' && entry.client !== null
      const ofRequests = isRequest ? [requestsTo(entry)] : []
      const keys = [ALL, placeOf(entry), callerOf(entry), ...ofRequests]
      return Math.max(...keys.map((key) => waits.get(key)?.untilMs ?? 0)) - nowMs()
    },
    /** Whether all wait, or waited and one shows whether they still must. */
    isOfAll: (): boolean => waits.has(ALL),
    /** Whether the chat of an entry could not be written to the last time. */
    isTroubled: (entry: OutboxEntry): boolean => waits.has(placeOf(entry)),
    /** A request reached its approver: the next one of any client to the same person waits. */
    asked: (entry: OutboxEntry): void => {
      if (entry.client === null) return
      waits.set(requestsTo(entry), { ...FREE, untilMs: nowMs() + PACE_MS })
    },
    /** @param o `retryMs` the wait that the failure asks for */
    failed: (entry: OutboxEntry, o: { extent: Extent; retryMs: number | null }): void => {
      const { extent, retryMs } = o
      const key = extent === 'client' ? callerOf(entry) : placeOf(entry)
      const wait = hold(key, retryMs)
      if (extent !== 'all' || wait.isOwn) return
      wait.isSuspect = true
      const suspects = [...waits.values()].filter(({ isSuspect }) => isSuspect)
      if (suspects.length > 1) hold(ALL, retryMs)
    },
    /** @param isAnswered the service answered: what holds up others is their own */
    ended: (entry: OutboxEntry, isAnswered: boolean): void => {
      for (const key of [placeOf(entry), callerOf(entry)]) waits.delete(key)
      if (!isAnswered) return
      const wasOfAll = waits.delete(ALL)
      for (const wait of waits.values()) {
        if (!wait.isSuspect) continue
        Object.assign(wait, { isSuspect: false, isOwn: true })
        if (wasOfAll) wait.untilMs = 0
      }
    },
  }
}
