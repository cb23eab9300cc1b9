/** Those who use a bot's door beside it: callers of the outbox, readers, an approver; and who holds its key. */
import { setTimeout as pause } from 'node:timers/promises'
import { CLIENT_TOKEN_PREFIX, tokenHashOf } from '../../src/api/bot.ts'
import type { Random } from '../support/faults-random.ts'
import { Approver } from './approver.ts'
import type { Door } from './bot.ts'
import { Caller } from './caller.ts'
import { wordsOn } from './check-outbox.ts'
import { during, type History } from './history.ts'
import { Holder } from './holder.ts'
import type { Keeper } from './keeper.ts'
import type { People } from './people.ts'
import { Reader } from './reader.ts'
import type { Service } from './service.ts'

type Client = 'writer' | 'drafter' | 'archive' | 'watcher'

/** So long calls go on being given after everything had healed. */
export const GIVING_MS = 3000
const LOOK_MS = 200
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
      doing(() => given.abort()).finally(end),
    ])
  }

  /**
   * After everything had healed: waits until nothing waits in the outbox, but for a word that nobody
   * gives; then lets the time for these pass, and gives them. Notes a breach by `untilMs`.
   */
  async settle(keepers: readonly Keeper[], isTold: boolean, untilMs: number): Promise<void> {
    const { history } = this.#o
    const startedMs = performance.now()
    const settled = async () => await this.#untilSettled(keepers, isTold, untilMs)
    const silent = await settled()
    this.journal = (await keepers[0]?.journal()) ?? null
    if (silent === null) return
    history.settledAfterMs = performance.now() - startedMs
    if (silent === 0) return
    await during(history, 'clock', async () => {
      for (const keeper of keepers) keeper.moveClock(LATE_MS)
      // what is given wakes the outbox
      await this.#callers[0]?.give(AbortSignal.timeout(5000))
      while (performance.now() < untilMs && (await settled()) !== 0) {
        await pause(LOOK_MS)
      }
      await this.#approver.answerLate()
      const { words, handled } = history
      const isHeard = (): boolean =>
        words.every(({ chatId, messageId }) =>
          handled.some((one) => one.chatId === chatId && one.messageId === messageId),
        )
      while (performance.now() < untilMs && !isHeard()) await pause(LOOK_MS)
      for (const keeper of keepers) keeper.moveClock(0)
    })
  }

  /** How many wait for a word that nobody gives, once nothing else waits; null: that was too late. */
  async #untilSettled(
    keepers: readonly Keeper[],
    isTold: boolean,
    untilMs: number,
  ): Promise<number | null> {
    const { history } = this.#o
    let waiting: string[] = []
    while (performance.now() < untilMs) {
      const [keeper] = keepers
      const rows = (await keeper?.outbox()) ?? null
      const isUnanswered = (row: { id: string }): boolean => {
        const later = history.later.find(({ id }) => id === row.id)
        const isSeen = history.asked.some(({ canary }) => canary === later?.canary)
        return later !== undefined && isSeen && wordsOn(later, history).decisions.has(null)
      }
      const open = rows?.filter(({ state }) => state === 'waiting' || state === 'asked') ?? []
      const silent = open.filter((row) => row.state === 'asked' && isUnanswered(row))
      const ended = history.later.filter(({ id }) =>
        rows?.some((row) => row.id === id && row.settledAt !== null),
      )
      const untold = ended.filter(
        ({ seen }) => this.hasNews && isTold && !seen.some(({ isNews }) => isNews),
      )
      if (
        rows !== null &&
        this.#approver.isIdle &&
        open.length === silent.length &&
        untold.length === 0
      )
        return silent.length
      waiting = [
        ...open.map(({ id, state, code }) => `${id} ${state} ${code}`),
        ...untold.map(({ id }) => `${id} untold`),
      ]
      await pause(LOOK_MS)
    }
    history.breaches.push(
      `I14: after everything had healed, these were not settled: ${waiting.slice(0, 5).join(', ')}`,
    )
    return null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.holder?.[Symbol.asyncDispose]()
  }
}
