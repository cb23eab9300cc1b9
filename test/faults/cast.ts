/** Those who use a bot's door beside it: callers of the outbox, readers, an approver; and who holds its key. */
import { setTimeout as pause } from 'node:timers/promises'
import { CLIENT_TOKEN_PREFIX, tokenHashOf } from '../../src/api/bot.ts'
import type { OutboxRow } from '../../src/operators/outbox.ts'
import type { Random } from '../support/faults-random.ts'
import { Approver } from './approver.ts'
import type { Door } from './bot.ts'
import { Caller } from './caller.ts'
import { wordsOn } from './check-outbox.ts'
import { during, type Handled, type History } from './history.ts'
import { Holder } from './holder.ts'
import type { Keeper } from './keeper.ts'
import type { People } from './people.ts'
import { Reader } from './reader.ts'
import type { Service } from './service.ts'

type Client = 'writer' | 'drafter' | 'archive' | 'watcher'

/** So long calls go on being given after everything had healed. */
export const GIVING_MS = 3000
const LOOK_MS = 200
/** So long nothing ends at most: the longest pause of the outbox is a minute. */
const STILL_MS = 90_000
/** Requests are answered within an hour. */
const LATE_MS = 2 * 3_600_000
/** Within the share of a client, and of requests to one person. */
const PAUSES_MS = { bot: 250, writer: 1200, drafter: 6000 }
const SKEWS_MS = [0, 0, -5000]

export class Cast implements AsyncDisposable {
  /** The bot hears of the ends of calls. */
  readonly hasNews: boolean
  readonly hasReaders: boolean
  /** Null: each sidecar has the key in its store. */
  readonly holder: Holder | null
  readonly tokens: readonly string[]
  /** Of one sidecar, once all was settled. */
  journal: Awaited<ReturnType<Keeper['journal']>> = null
  /** What each client that reads may read. */
  readonly readers: Readonly<Record<string, ReadonlySet<number>>>
  readonly #o: { service: Service; people: People; history: History; random: Random }
  readonly #tokens: Readonly<Record<Client, string>>
  readonly #approver: Approver
  #callers: Caller[] = []
  #readers: Reader[] = []

  constructor(o: { service: Service; people: People; history: History; random: Random }) {
    this.#o = o
    const { random, people } = o
    const token = (): string => CLIENT_TOKEN_PREFIX + random.hex(43)
    this.#tokens = { writer: token(), drafter: token(), archive: token(), watcher: token() }
    this.tokens = Object.values(this.#tokens)
    this.hasNews = random.oneIn(2)
    this.hasReaders = random.oneIn(2)
    this.holder = random.oneIn(4) ? new Holder() : null
    o.history.hasFarClocks = random.oneIn(3)
    const { aliceWithBot, encryptedGroup, ...others } = people.chats
    const some = [aliceWithBot, encryptedGroup]
    this.readers = { archive: new Set(some), watcher: new Set([...some, ...Object.values(others)]) }
    this.#approver = new Approver({ ...o, random: random.fork(), chatId: aliceWithBot })
  }

  /** Of each sidecar. */
  get settings(): object {
    const { people, service } = this.#o
    const scopes: Record<Client, object> = {
      writer: { may: ['send', 'edit'], chats: Object.values(people.chats) },
      drafter: { may: ['send', 'edit'], chats: Object.values(people.chats) },
      archive: { may: ['read'], chats: [...(this.readers['archive'] ?? [])] },
      watcher: { may: ['read'], chats: ['all'] },
    }
    const clients = Object.entries(this.#tokens).map(([name, token]) => {
      return { name, tokenHash: tokenHashOf(token), ...scopes[name as Client] }
    })
    const approve = [{ chats: ['all'], clients: ['drafter'], by: [service.home.alice.id] }]
    return { clients: { list: clients }, approve, outbox: { updates: this.hasNews } }
  }

  /** How far a sidecar's clock is off, by chance. */
  skewMs(): number {
    return this.#o.random.pick(SKEWS_MS)
  }

  /** Once the sidecars run; ends when each reader was answered. */
  async enter(door: Door): Promise<void> {
    const { random, history, people } = this.#o
    const { aliceWithBot, bobWithBot, encryptedGroup, readableGroup, turningGroup } = people.chats
    const caller = (name: keyof typeof PAUSES_MS, token: string, chats: number[]): Caller => {
      const parts = { door, history, random: random.fork(), token, chats }
      const by = name === 'bot' ? null : name
      const needsWord = name === 'drafter'
      return new Caller({ ...parts, name: by, needsWord, pauseMs: PAUSES_MS[name] })
    }
    const { writer, drafter, ...readers } = this.#tokens
    this.#callers = [
      caller('bot', door.clientToken, [bobWithBot, turningGroup]),
      caller('writer', writer, [aliceWithBot, encryptedGroup, readableGroup]),
      caller('drafter', drafter, [bobWithBot, encryptedGroup]),
    ]
    if (!this.hasReaders) return
    const made = Object.entries(readers).map(([name, token]) => {
      return new Reader({ door, history, random: random.fork(), name, token })
    })
    await Promise.all(made.map((reader) => reader.begin()))
    this.#readers = made
  }

  /** Gives, reads and answers while something is done; that can end the giving before. */
  async along(doing: (endGiving: () => void) => Promise<void>): Promise<void> {
    const [given, over] = [new AbortController(), new AbortController()]
    const end = (): void => [given, over].forEach((one) => one.abort())
    await Promise.all([
      ...this.#callers.map((caller) => caller.giveAlong(given.signal)),
      ...this.#readers.map((reader) => reader.readAlong(over.signal)),
      this.#approver.answerAlong(over.signal),
      doing(() => given.abort())
        .then(() => this.#until(() => this.#isHeard() && this.#isRead()))
        .finally(end),
    ])
  }

  /** Whether the bot has every word that an approver is known to have written. */
  #isHeard(): boolean {
    const { handled, words } = this.#o.history
    return hasAll(
      handled,
      words.filter(({ messageId }) => messageId !== null),
    )
  }

  /** Whether each reader has what the bot has of its chats. */
  #isRead(): boolean {
    const { handled, polled } = this.#o.history
    return Object.entries(this.hasReaders ? this.readers : {}).every(([name, chats]) => {
      const own = polled.filter(({ client }) => client === name)
      const due = handled.filter(({ chatId }) => chats.has(chatId))
      return hasAll(
        own.flatMap(({ updates }) => updates),
        due,
      )
    })
  }

  /** Waits for a state, and no longer than a call may need to end. */
  async #until(isReached: () => boolean): Promise<void> {
    const untilMs = performance.now() + STILL_MS
    while (performance.now() < untilMs && !isReached()) await pause(LOOK_MS)
  }

  /**
   * After everything had healed: waits until nothing waits in the outbox, but for a word that nobody
   * gives; then lets the time for these pass, and gives them. Notes a breach where nothing goes on.
   * @param isTold the bot is surely told of the ends of calls
   */
  async settle(keepers: readonly Keeper[], isTold: boolean): Promise<void> {
    const { history } = this.#o
    const startedMs = performance.now()
    const silent = await this.#untilSettled(keepers, { isTold, maySilence: true })
    this.journal = (await keepers[0]?.journal()) ?? null
    if (silent === null) return
    history.settledAfterMs = performance.now() - startedMs
    if (silent.length === 0) return
    // a call that was asked for under a clock far ahead ends by that one
    const lastMs = Math.max(...silent.map(({ approval }) => approval?.expiresAtMs ?? 0))
    const aheadMs = LATE_MS + Math.max(0, lastMs - Date.now())
    await during(history, 'clock', async () => {
      for (const keeper of keepers) keeper.moveClock(aheadMs)
      // what is given wakes the outbox
      await this.#callers[0]?.give(AbortSignal.timeout(5000))
      await this.#untilSettled(keepers, { isTold, maySilence: false })
      await this.#approver.answerLate()
      await this.#until(() => this.#isHeard())
      for (const keeper of keepers) keeper.moveClock(0)
    })
  }

  /**
   * The entries that wait for a word that nobody gives, once nothing else waits; null: nothing went on.
   * @param o `maySilence`: whether such entries may be left then
   */
  async #untilSettled(
    [keeper]: readonly Keeper[],
    { isTold, maySilence }: { isTold: boolean; maySilence: boolean },
  ): Promise<OutboxRow[] | null> {
    const { history } = this.#o
    let [waiting, sinceMs] = ['', performance.now()]
    // a slow machine is no stop: each call that ends begins the time anew
    while (performance.now() < sinceMs + STILL_MS) {
      const rows = (await keeper?.outbox()) ?? null
      const isUnanswered = (row: OutboxRow): boolean => {
        const later = history.later.find(({ id }) => id === row.id)
        const isSeen = history.asked.some(({ canary }) => canary === later?.canary)
        return later !== undefined && isSeen && wordsOn(later, history).decisions.has(null)
      }
      const open = rows?.filter(({ state }) => state === 'waiting' || state === 'asked') ?? []
      const silent = open.filter((row) => row.state === 'asked' && isUnanswered(row))
      const ended = new Set(rows?.flatMap((row) => (row.settledAt === null ? [] : row.id)))
      const untold = history.later.filter(({ id, seen }) => {
        return isTold && ended.has(id ?? '') && !seen.some(({ isNews }) => isNews)
      })
      const mayBeLeft = maySilence ? silent.length : 0
      const isSettled = open.length === mayBeLeft && untold.length === 0
      if (rows !== null && isSettled && this.#approver.isIdle) return silent
      const now = [
        ...open.map(({ id, state, code }) => `${id} ${state} ${code}`),
        ...untold.map(({ id }) => `${id} untold`),
      ].join(', ')
      if (now !== waiting) sinceMs = performance.now()
      waiting = now
      await pause(LOOK_MS)
    }
    history.breaches.push(`I14: after everything had healed, these were not settled: ${waiting}`)
    return null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.holder?.[Symbol.asyncDispose]()
  }
}

type Place = Pick<Handled, 'chatId'> & { messageId: number | null }

/** Whether all messages are among others. */
function hasAll(all: readonly Place[], wanted: readonly Place[]): boolean {
  const places = new Set(all.map(({ chatId, messageId }) => `${chatId} ${messageId}`))
  return wanted.every(({ chatId, messageId }) => places.has(`${chatId} ${messageId}`))
}
