import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { FIXED_LIMITS } from '../api/limits.ts'
import { BackgroundWork } from './background-work.ts'
import { WorldClock, type ClockMode, type ClockState } from './clock.ts'
import type { EventBody } from './events/event.ts'
import { createFaults } from './faults/faults.ts'
import { Persistence, type RecordRow } from './persistence/persistence.ts'
import type {
  BotRecord,
  BotState,
  ChatRecord,
  ChatState,
  Membership,
  PersonState,
} from './state.ts'
import { Transcript } from './transcript.ts'
import { RateWindows } from './rules/rate-windows.ts'
import { UpdateQueue, type IdCounter } from './update-queue.ts'
import { Listeners } from '../util/listeners.ts'

/** Choices that change what the service enforces. */
interface WorldRules {
  /** `spec` (default): every rate window of the limits table. `off`: none, for benchmarks. */
  rates: 'spec' | 'off'
  /**
   * `public` (default): https and public addresses, as the spec demands. `local`: http and any
   * address too, for bots on this machine.
   */
  webhooks: 'public' | 'local'
  /** Gives every address of a host name; by DNS by default. */
  resolveHost: (host: string) => Promise<string[]>
  /**
   * How many ms of real time `advance` waits for a receiver that does not answer; 10 000 by default.
   */
  receiverPatienceMs: number
}

export interface WorldOptions extends Partial<WorldRules> {
  /** File that stores the world; in memory alone when absent. */
  data?: string | undefined
  /**
   * `running` follows real time; `still` moves only by `advance`. By default as stored in `data`,
   * else `running`.
   */
  clock?: ClockMode | undefined
  /** Time at the start, ms since epoch; the real time by default. */
  startMs?: number
  /** How many of the newest calls the transcript holds; 10 000 by default, 0 for none. */
  transcriptCalls?: number
}

/** Who or what has a handle: people, bots, groups and channels share one name space. */
export type HandleOwner = { account: number } | { chat: number }

/** First ids. The ranges are far apart, and chat ids do not fit into 32 bits. */
const FIRST_IDS = { person: 41_000_001, bot: 82_000_001, chat: 9_100_000_001 } as const
const FIRST_UPDATE_ID = 500_001
/** Key of the one clock in its map. */
const CLOCK_KEY = 'clock'

/** The whole service: its accounts, chats and files, its clock, and its transcript. */
export class World {
  readonly clock: WorldClock
  readonly rules: WorldRules
  readonly transcript: Transcript
  readonly faults = createFaults((event) => this.emit(event))
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
  /** Calls back on every event, until the returned function is called. */
  readonly onEvent = this.#listeners.add
  readonly #counters: Map<string, IdCounter>
  /** Where the clock is stored. */
  readonly #clocks: Map<string, ClockState>

  private constructor(persistence: Persistence, options: WorldOptions) {
    this.persistence = persistence
    this.rules = {
      rates: options.rates ?? 'spec',
      webhooks: options.webhooks ?? 'public',
      resolveHost: options.resolveHost ?? resolveByDns,
      receiverPatienceMs: options.receiverPatienceMs ?? FIXED_LIMITS.webhookAnswerMs,
    }
    this.#clocks = persistence.map('clock')
    this.isNew = this.#clocks.size === 0
    const { clock: mode, startMs } = options
    this.clock = new WorldClock({ mode, startMs }, this.#clocks.get(CLOCK_KEY))
    this.#storeClock()
    const emit = (event: EventBody): void => this.emit(event)
    this.transcript = new Transcript(persistence.map('call'), emit, options.transcriptCalls)
    this.#counters = persistence.map('counter')
    this.addresses = this.#rateWindows('addresses')
    this.people = persistence.map('person')
    this.bots = persistence.map<number, BotState>({
      name: 'bot',
      write: toRecord,
      read: (stored) => this.#restoreBot(stored as BotRecord),
    })
    this.chats = persistence.map<number, ChatState>({
      name: 'chat',
      write: toRecord,
      read: (stored) => this.#restoreChat(stored as ChatRecord),
    })
    this.handles = persistence.map('handle')
    this.files = persistence.map('file')
  }

  /** Opens the world that a file holds, or makes a new and empty one. @throws OperatorError */
  static async open(options: WorldOptions): Promise<World> {
    if (options.data === undefined) return new World(new Persistence(), options)
    // Loads SQLite only when it is used.
    const { WorldFile } = await import('./persistence/file.ts')
    const { file, rows } = WorldFile.open(options.data)
    return new World(new Persistence(rows, file), options)
  }

  /**
   * Makes this world's successor, which begins with these rows, its clock too. This one continues
   * until the persistence of the new one is started.
   */
  successor(rows: readonly RecordRow[], options: WorldOptions): World {
    const { clock: _mode, startMs: _time, ...rest } = options
    return new World(this.persistence.successor(rows), rest)
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
    return setAndGet(this.bots, record.id, this.#restoreBot(record))
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
    return setAndGet(this.chats, id, this.#restoreChat(record))
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

  emit(event: EventBody): void {
    this.#listeners.emit(event)
  }

  #storeClock(): void {
    this.#clocks.set(CLOCK_KEY, this.clock.state)
  }

  #rateWindows(owner: string): RateWindows {
    return new RateWindows(this.rules.rates, this.persistence.map('window', owner))
  }

  /** Adds the maps and the queue of a bot to its record. */
  #restoreBot(record: BotRecord): BotState {
    const { id } = record
    const { persistence } = this
    const queue = new UpdateQueue({
      clock: this.clock,
      queued: persistence.map('update', id),
      ids: this.counter(`bot ${id}`),
      onPush: ({ updateId, kind: updateKind }) =>
        this.emit({ kind: 'queued', botId: id, updateId, updateKind }),
    })
    return {
      ...record,
      queue,
      windows: this.#rateWindows(`bot ${id}`),
      commands: persistence.map('commands', id),
      sent: persistence.map('sent', id),
      typing: persistence.map('typing', id),
      presses: persistence.map('press', id),
    }
  }

  /** Adds the maps of a chat to its record. Members have the name of the format’s first version. */
  #restoreChat(record: ChatRecord): ChatState {
    const { id } = record
    const members = this.persistence.map<number, Membership>('seat', id)
    return { ...record, members, messages: this.persistence.map('message', id) }
  }
}

/** A bot or chat is stored without its maps and queue, which have records of their own. */
function toRecord(state: object): object {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => isPlain(value)))
}

/** Whether a value is stored as JSON: no map and no other object of a class. */
function isPlain(value: unknown): boolean {
  return (
    Object(value) !== value ||
    Array.isArray(value) ||
    Object.getPrototypeOf(value) === Object.prototype
  )
}

async function resolveByDns(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** Adds an entry and gives it back: the map may have wrapped it. */
function setAndGet<K, V>(map: Map<K, V>, key: K, value: V): V {
  return map.set(key, value).get(key) ?? value
}
