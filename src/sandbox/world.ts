import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { FIXED_LIMITS } from '../api/limits.ts'
import { BackgroundWork } from './background-work.ts'
import { WorldClock, type ClockMode, type ClockState } from './clock.ts'
import type { EventBody } from './events/event.ts'
import { createFaults } from './faults/faults.ts'
import { requireLimits, WorldLimits, type LimitsInput } from './limits.ts'
import { Persistence, type RecordRow } from './persistence/persistence.ts'
import { NEW_CHAT, type BotRecord, type BotState, type ChatRecord } from './state.ts'
import type { ChatState, Membership, PersonState } from './state.ts'
import { createTranscript } from './transcript.ts'
import { rateWindows } from './rules/rate-windows.ts'
import { createUpdateQueue, type IdCounter } from './update-queue.ts'
import { Listeners } from '../util/listeners.ts'

/** Choices that change what the service enforces. */
export interface WorldRules {
  /** `spec` (default): every rate window of the limits, as `limits` has them. `off`: none. */
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
  /**
   * Limits that differ from those of the specification, by name; the others are as stored in `data`,
   * else the specification's.
   */
  limits?: LimitsInput | undefined
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
export type World = ReturnType<typeof worldIn>

/** Opens the world that a file holds, or makes a new and empty one. @throws OperatorError */
export async function openWorld(options: WorldOptions): Promise<World> {
  requireLimits(options.limits)
  if (options.data === undefined) return worldIn(new Persistence(), options)
  // Loads SQLite only when it is used.
  const { openWorldFile } = await import('./persistence/file.ts')
  const { file, rows } = openWorldFile(options.data)
  return worldIn(new Persistence(rows, file), options)
}

/**
 * Makes a world's successor, which begins with these rows, its clock too. The former continues until
 * the persistence of the new one is started.
 */
export function successorOf(before: World, rows: readonly RecordRow[], options: WorldOptions) {
  const { clock: _mode, startMs: _time, limits: _stored, ...rest } = options
  return worldIn(before.persistence.successor(rows), rest)
}

function worldIn(persistence: Persistence, options: WorldOptions) {
  const rules: WorldRules = {
    rates: options.rates ?? 'spec',
    webhooks: options.webhooks ?? 'public',
    resolveHost: options.resolveHost ?? resolveByDns,
    receiverPatienceMs: options.receiverPatienceMs ?? FIXED_LIMITS.webhookAnswerMs,
  }
  const listeners = new Listeners<EventBody>()
  const { emit } = listeners
  /** Where the clock is stored. */
  const clocks = persistence.map<string, ClockState>('clock')
  const isNew = clocks.size === 0
  const { clock: mode, startMs } = options
  const clock = new WorldClock({ mode, startMs }, clocks.get(CLOCK_KEY))
  const storeClock = (): void => void clocks.set(CLOCK_KEY, clock.state)
  storeClock()
  const counters = persistence.map<string, IdCounter>('counter')
  const background = new BackgroundWork()
  const limits = new WorldLimits(persistence.map('limits'), options.limits)

  /** The counter of an id range, or of a bot's updates. */
  const counter = (of: string): IdCounter => {
    const known: Record<string, number> = FIRST_IDS
    const first = { next: known[of] ?? FIRST_UPDATE_ID }
    return counters.get(of) ?? setAndGet(counters, of, first)
  }

  const windowsOf = (owner: string) =>
    rateWindows(rules.rates, persistence.map('window', owner), () => clock.now())

  /** Adds the maps and the queue of a bot to its record. */
  const restoreBot = (record: BotRecord): BotState => {
    const { id } = record
    const queue = createUpdateQueue({
      clock,
      limits,
      queued: persistence.map('update', id),
      ids: counter(`bot ${id}`),
      onPush: ({ updateId, kind: updateKind }) =>
        emit({ kind: 'queued', botId: id, updateId, updateKind }),
    })
    return {
      ...record,
      queue,
      windows: windowsOf(`bot ${id}`),
      commands: persistence.map('commands', id),
      sent: persistence.map('sent', id),
      typing: persistence.map('typing', id),
      presses: persistence.map('press', id),
    }
  }

  /** Adds the maps of a chat to its record. Members have the name of the format’s first version. */
  const restoreChat = (record: ChatRecord): ChatState => {
    const members = persistence.map<number, Membership>('seat', record.id)
    return { ...record, members, messages: persistence.map('message', record.id) }
  }

  const bots = persistence.map<number, BotState>({
    name: 'bot',
    write: toRecord,
    read: (stored) => restoreBot(stored as BotRecord),
  })
  const chats = persistence.map<number, ChatState>({
    name: 'chat',
    write: toRecord,
    read: (stored) => restoreChat(stored as ChatRecord),
  })
  const files = persistence.map<string, Uint8Array>('file')
  /** The next id of its range. */
  const nextId = (kind: keyof typeof FIRST_IDS): number => counter(kind).next++
  /** A random id for presses and files: 22 characters of base64url. */
  const randomId = (): string => randomBytes(16).toString('base64url')

  return {
    clock,
    rules,
    limits,
    persistence,
    background,
    transcript: createTranscript(persistence.map('call'), emit, options.transcriptCalls),
    faults: createFaults(emit),
    /** False when a file held it already. */
    isNew,
    people: persistence.map<number, PersonState>('person'),
    bots,
    chats,
    /** By handle in lower case. */
    handles: persistence.map<string, HandleOwner>('handle'),
    /** By media id. */
    files,
    /** Rate windows of callers' addresses. */
    addresses: windowsOf('addresses'),
    /** Aborted when the sandbox closes. */
    closing: new AbortController(),
    emit,
    /** Calls back on every event, until the returned function is called. */
    onEvent: listeners.add,
    nextId,
    randomId,

    /**
     * Moves the clock forward by milliseconds. What falls due on the way happens at its time, and
     * what it sets in motion is waited for: a delivery under way `receiverPatienceMs` of real time
     * at most.
     * @throws RangeError unless `ms` is an integer of at least 0
     */
    advance: async (ms: number): Promise<void> => {
      await clock.advance(ms, async () => {
        storeClock()
        await background.settled()
      })
      storeClock()
      emit({ kind: 'clock' })
    },

    /** Stops the clock, or lets it run. */
    setClockMode: (next: ClockMode): void => {
      clock.mode = next
      storeClock()
      emit({ kind: 'clock' })
    },

    addBot: (record: BotRecord): BotState => setAndGet(bots, record.id, restoreBot(record)),

    /** A chat with nobody in it; a group or channel without open history is encrypted. */
    addChat: (kind: ChatState['kind']): ChatState => {
      const id = nextId('chat')
      return setAndGet(chats, id, restoreChat({ id, kind, ...NEW_CHAT }))
    },

    /** Stores a file, byte for byte, under a new id. It is served at `/media/<id>`. */
    storeFile: (file: Uint8Array): string => {
      const mediaId = randomId()
      files.set(mediaId, file)
      return mediaId
    },
  }
}

/** A bot or chat is stored without its maps and queue, which have records of their own. */
const toRecord = (state: object): object =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => isPlain(value)))

/** Of values that are stored as JSON: no map and no other object of a class. */
const PLAIN = new Set<unknown>([Object.prototype, Array.prototype])
const isPlain = (value: unknown): boolean =>
  Object(value) !== value || PLAIN.has(Object.getPrototypeOf(value))

const resolveByDns = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/** Adds an entry and gives it back: the map may have wrapped it. */
const setAndGet = <K, V>(map: Map<K, V>, key: K, value: V): V =>
  map.set(key, value).get(key) ?? value
