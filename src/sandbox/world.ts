import { randomBytes } from 'node:crypto'
import type { WorldClock, ClockState } from './clock.ts'
import type { Faults } from './faults/faults.ts'
import { plainKind, type Persistence } from './persistence/persistence.ts'
import { botKind, chatKind, storedRateWindows, restoreBot, restoreChat } from './record-kinds.ts'
import type { BotRecord, BotState, ChatState, PersonState, WorldEvent } from './state.ts'
import type { Transcript } from './transcript.ts'
import type { RateWindows } from './rules/rate-windows.ts'
import type { IdCounter } from './update-queue.ts'

/** Choices that change what the service enforces. */
export interface WorldRules {
  /** `spec`: every rate window of the limits table. `off`: none, for benchmarks. */
  rates: 'spec' | 'off'
  /** `public`: https and public addresses, as the spec says. `local`: http and any address too. */
  webhooks: 'public' | 'local'
  /** Every address a host name stands for. */
  resolveHost: (host: string) => Promise<string[]>
}

/** Who or what holds a public handle: people, bots, groups and channels share one pool. */
export type HandleOwner = { account: number } | { chat: number }

/** First ids; the ranges do not meet, and chat ids do not fit 32 bits. */
const FIRST = { person: 41_000_001, bot: 82_000_001, chat: 9_100_000_001 } as const
const FIRST_UPDATE_ID = 500_001
/** Name of the one clock among those that are kept. */
export const CLOCK = 'clock'

/** The whole service: its accounts, chats and files, its time, and what it saw. */
export class World {
  readonly clock: WorldClock
  readonly rules: WorldRules
  readonly transcript: Transcript
  readonly faults: Faults
  readonly persistence: Persistence
  /** Nobody was ever in it. */
  readonly isNew: boolean
  readonly people: Map<number, PersonState>
  readonly bots: Map<number, BotState>
  readonly chats: Map<number, ChatState>
  /** By handle in lower case. */
  readonly handles: Map<string, HandleOwner>
  /** By media id. */
  readonly files: Map<string, Uint8Array>
  /** RateWindows of callers' addresses. */
  readonly addresses: RateWindows
  /** Aborted when the sandbox closes. */
  readonly closing = new AbortController()
  readonly #listeners = new Set<(event: WorldEvent) => void>()
  readonly #counters: Map<string, IdCounter>
  readonly #clocks: Map<string, ClockState>

  constructor(parts: {
    clock: WorldClock
    rules: WorldRules
    transcript: Transcript
    faults: Faults
    persistence: Persistence
    isNew: boolean
    /** Where the clock is written down. */
    clocks: Map<string, ClockState>
  }) {
    const { persistence } = parts
    this.clock = parts.clock
    this.rules = parts.rules
    this.transcript = parts.transcript
    this.faults = parts.faults
    this.persistence = persistence
    this.isNew = parts.isNew
    this.#counters = persistence.map(plainKind('counter'))
    this.#clocks = parts.clocks
    this.#clocks.set(CLOCK, this.clock.state)
    this.addresses = storedRateWindows(persistence, parts.rules.rates, 'addresses')
    this.people = persistence.map(plainKind('person'))
    this.bots = persistence.map(botKind(this))
    this.chats = persistence.map(chatKind(persistence))
    this.handles = persistence.map(plainKind('handle'))
    this.files = persistence.map(plainKind('file'))
  }

  /** Moves the clock forward by milliseconds. */
  advance(ms: number): void {
    this.clock.advance(ms)
    this.#clocks.set(CLOCK, this.clock.state)
  }

  addBot(record: BotRecord): BotState {
    return put(this.bots, record.id, restoreBot(this, record))
  }

  /** A chat with nobody in it; a group or channel without open history is encrypted. */
  addChat(kind: ChatState['kind']): ChatState {
    const id = this.nextId('chat')
    const record = {
      id,
      kind,
      title: null,
      username: null,
      description: null,
      historyVisible: false,
      slowModeSeconds: 0,
      rosterHidden: false,
      adminsHidden: false,
      nextMessageId: 1,
    }
    return put(this.chats, id, restoreChat(this.persistence, record))
  }

  /** The next id of its range. */
  nextId(kind: keyof typeof FIRST): number {
    return this.counter(kind).next++
  }

  /** What counts the ids of a range, or of a bot's updates. */
  counter(of: string): IdCounter {
    const known: Record<string, number> = FIRST
    const first = { next: known[of] ?? FIRST_UPDATE_ID }
    return this.#counters.get(of) ?? put(this.#counters, of, first)
  }

  /** A random id for presses and files: 22 characters of base64url. */
  randomId(): string {
    return randomBytes(16).toString('base64url')
  }

  /** Calls back on everything that phones are told, until the returned function is called. */
  listen(listener: (event: WorldEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(event: WorldEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/** Adds an entry, and gives it as the map has it. */
export function put<K, V>(map: Map<K, V>, key: K, value: V): V {
  return map.set(key, value).get(key) ?? value
}
