import { randomBytes } from 'node:crypto'
import { BackgroundWork } from './background-work.ts'
import type { ClockMode, ClockState, WorldClock } from './clock.ts'
import type { EventBody } from './events/event.ts'
import type { Faults } from './faults/faults.ts'
import type { Persistence } from './persistence/persistence.ts'
import { botKind, chatKind, storedRateWindows, restoreBot, restoreChat } from './record-kinds.ts'
import type { BotRecord, BotState, ChatState, PersonState } from './state.ts'
import type { Transcript } from './transcript.ts'
import type { RateWindows } from './rules/rate-windows.ts'
import type { IdCounter } from './update-queue.ts'
import { Listeners } from '../util/listeners.ts'

/** Choices that change what the service enforces. */
export interface WorldRules {
  /** `spec`: every rate window of the limits table. `off`: none, for benchmarks. */
  rates: 'spec' | 'off'
  /** `public`: https and public addresses, as the spec says. `local`: http and any address too. */
  webhooks: 'public' | 'local'
  /** Gives every address of a host name. */
  resolveHost: (host: string) => Promise<string[]>
  /** How much real time `advance` leaves a receiver to answer before it moves on. */
  receiverPatienceMs: number
}

/** Who or what has a handle: people, bots, groups and channels share one name space. */
export type HandleOwner = { account: number } | { chat: number }

/** First ids. The ranges are far apart, and chat ids do not fit into 32 bits. */
const FIRST_IDS = { person: 41_000_001, bot: 82_000_001, chat: 9_100_000_001 } as const
const FIRST_UPDATE_ID = 500_001
/** Key of the one clock in its map. */
export const CLOCK_KEY = 'clock'

/** The whole service: its accounts, chats and files, its clock, and its transcript. */
export class World {
  readonly clock: WorldClock
  readonly rules: WorldRules
  readonly transcript: Transcript
  readonly faults: Faults
  readonly persistence: Persistence
  readonly background = new BackgroundWork()
  /** False when a file held it already. */
  readonly isNew: boolean
  readonly people: Map<number, PersonState>
  readonly bots: Map<number, BotState>
  readonly chats: Map<number, ChatState>
  /** By handle in lower case. */
  readonly handles: Map<string, HandleOwner>
  /** By media id. */
  readonly files: Map<string, Uint8Array>
  /** Rate windows of callers' addresses. */
  readonly addresses: RateWindows
  /** Aborted when the sandbox closes. */
  readonly closing = new AbortController()
  readonly #listeners = new Listeners<EventBody>()
  readonly #counters: Map<string, IdCounter>
  readonly #clocks: Map<string, ClockState>

  constructor(parts: {
    clock: WorldClock
    rules: WorldRules
    transcript: Transcript
    faults: Faults
    persistence: Persistence
    isNew: boolean
    /** Where the clock is stored. */
    clocks: Map<string, ClockState>
  }) {
    const { persistence } = parts
    this.clock = parts.clock
    this.rules = parts.rules
    this.transcript = parts.transcript
    this.faults = parts.faults
    this.persistence = persistence
    this.isNew = parts.isNew
    this.#counters = persistence.map('counter')
    this.#clocks = parts.clocks
    this.#storeClock()
    this.addresses = storedRateWindows(persistence, parts.rules.rates, 'addresses')
    this.people = persistence.map('person')
    this.bots = persistence.map(botKind(this))
    this.chats = persistence.map(chatKind(persistence))
    this.handles = persistence.map('handle')
    this.files = persistence.map('file')
  }

  /**
   * Moves the clock forward by milliseconds. What falls due on the way happens at its time, and what
   * it sets in motion is waited for: a delivery under way `receiverPatienceMs` of real time at most.
   * @throws RangeError unless `ms` is an integer of at least 0
   */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, async () => {
      this.#storeClock()
      await this.background.settled()
    })
    this.#storeClock()
    this.emit({ kind: 'clock' })
  }

  /** Stops the clock, or lets it run. */
  setClockMode(mode: ClockMode): void {
    this.clock.mode = mode
    this.#storeClock()
    this.emit({ kind: 'clock' })
  }

  addBot(record: BotRecord): BotState {
    return setAndGet(this.bots, record.id, restoreBot(this, record))
  }

  /** A chat with nobody in it; a group or channel without open history is encrypted. */
  addChat(kind: ChatState['kind']): ChatState {
    const id = this.nextId('chat')
    const record = {
      id,
      kind,
      name: null,
      title: null,
      username: null,
      description: null,
      historyVisible: false,
      slowModeSeconds: 0,
      rosterHidden: false,
      adminsHidden: false,
      nextMessageId: 1,
    }
    return setAndGet(this.chats, id, restoreChat(this.persistence, record))
  }

  /** The next id of its range. */
  nextId(kind: keyof typeof FIRST_IDS): number {
    return this.counter(kind).next++
  }

  /** The counter of an id range, or of a bot's updates. */
  counter(of: string): IdCounter {
    const known: Record<string, number> = FIRST_IDS
    const first = { next: known[of] ?? FIRST_UPDATE_ID }
    return this.#counters.get(of) ?? setAndGet(this.#counters, of, first)
  }

  /** A random id for presses and files: 22 characters of base64url. */
  randomId(): string {
    return randomBytes(16).toString('base64url')
  }

  /** Stores a file, byte for byte, under a new id. It is served at `/media/<id>`. */
  storeFile(file: Uint8Array): string {
    const mediaId = this.randomId()
    this.files.set(mediaId, file)
    return mediaId
  }

  /** Calls back on every event, until the returned function is called. */
  onEvent(listener: (event: EventBody) => void): () => void {
    return this.#listeners.add(listener)
  }

  emit(event: EventBody): void {
    this.#listeners.emit(event)
  }

  #storeClock(): void {
    this.#clocks.set(CLOCK_KEY, this.clock.state)
  }
}

/** Adds an entry and gives it back: the map may have wrapped it. */
function setAndGet<K, V>(map: Map<K, V>, key: K, value: V): V {
  return map.set(key, value).get(key) ?? value
}
