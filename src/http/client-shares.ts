/** What clients may use up of what the bot needs too: a share for each, and the bot keeps the rest. */
import type { EndpointName } from '../api/endpoints.ts'
import { shareRefusal } from '../errors.ts'
import type { ClientAct } from '../clients/may-client.ts'
import { monotonicNow } from '../util/clock.ts'
import { DOOR_BOUNDS } from './bounds.ts'

export interface ClientSharesParts {
  /** Calls to the service in a minute for all clients together. */
  callsOfClients: () => number
  clients: { readonly all: readonly unknown[] }
  modes: { peek: (chatId: number, sinceMs: number) => { mode: string } | undefined }
  directory: { hasKeyList: (chatId: number, sinceMs: number) => boolean }
  /** How old answers may be for a send. */
  cache: { chatSeconds: number; keyListSeconds: number }
  monotonicNow?: () => number
}

const WINDOW_MS = 60_000
/** A send, the mode of its chat, and its key list. */
const UNKNOWN_CHAT = 3
/** Calls that need the mode of their chat, and its key list. */
const WITH_LOOK_UPS: ReadonlySet<string> = new Set<EndpointName>([
  'sendMessage',
  'editMessage',
  'deleteMessage',
  'sendTyping',
])
const UNANSWERED = DOOR_BOUNDS.connections / 2

/** Each client's share is the part of all clients divided by their number. */
export class ClientShares {
  readonly #parts: ClientSharesParts
  readonly #nowMs: () => number
  /** Calls of the last minute, oldest first. */
  #calls: { client: string; atMs: number }[] = []
  /** By client, how many of its requests are not answered. */
  readonly #unanswered = new Map<string, number>()

  constructor(parts: ClientSharesParts) {
    this.#parts = parts
    this.#nowMs = parts.monotonicNow ?? monotonicNow
  }

  /**
   * Counts the calls to the service that a call of a client causes at most.
   * @throws Refusal `rate_limited` beyond its share
   */
  takeCalls(client: string, { call, chatIds }: ClientAct): void {
    // clients share one poll, which has a part of its own
    if (call === 'getUpdates') return
    const asks =
      call !== null && WITH_LOOK_UPS.has(call) && !chatIds.every((id) => this.#isKnown(id))
    const cost = asks ? UNKNOWN_CHAT : 1
    const nowMs = this.#nowMs()
    this.#calls = this.#calls.filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
    const own = this.#calls.filter((one) => one.client === client)
    const all = this.#parts.callsOfClients()
    const share = Math.max(UNKNOWN_CHAT, Math.floor(all / this.#clients))
    const isFull = this.#calls.length + cost > Math.max(UNKNOWN_CHAT, all)
    if (own.length + cost > share || isFull) {
      const first = (own[0] ?? this.#calls[0])?.atMs ?? nowMs
      throw shareRefusal(client, 'calls to the service', (first + WINDOW_MS - nowMs) / 1000)
    }
    for (let n = 0; n < cost; n++) this.#calls.push({ client, atMs: nowMs })
  }

  get #clients(): number {
    return Math.max(1, this.#parts.clients.all.length)
  }

  /** Whether a send into a chat needs no look-up. */
  #isKnown(chatId: number): boolean {
    const { modes, directory, cache } = this.#parts
    const since = (seconds: number): number => this.#nowMs() - seconds * 1000
    return (
      modes.peek(chatId, since(cache.chatSeconds))?.mode === 'open' ||
      directory.hasKeyList(chatId, since(cache.keyListSeconds))
    )
  }

  /**
   * Counts a request until its answer is closed.
   * @returns ends it
   * @throws Refusal `rate_limited` beyond the client's share
   */
  begin(client: string): () => void {
    const unanswered = this.#unanswered
    const own = unanswered.get(client) ?? 0
    const all = [...unanswered.values()].reduce((sum, count) => sum + count, 0)
    const share = Math.max(1, Math.floor(UNANSWERED / this.#clients))
    if (own >= share || all >= UNANSWERED) throw shareRefusal(client, 'unanswered requests', 1)
    unanswered.set(client, own + 1)
    return () => {
      const left = (unanswered.get(client) ?? 0) - 1
      if (left > 0) unanswered.set(client, left)
      else unanswered.delete(client)
    }
  }
}
