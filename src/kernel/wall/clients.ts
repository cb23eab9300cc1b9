import { Refusal, refusedError } from '../../errors.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import type { Client, Memory, Records, Right } from '../memory.ts'
import type { Journal } from '../people/journal.ts'
import { lackOf, mayRead, NEEDS, paced, refuseLack } from './may-client.ts'
import type { ClientAct, ClientFacts, Lack } from './may-client.ts'

/** More than anybody needs, and few enough to read at once. */
const MOST_CLIENTS = 1000
/** Equal refusals of a client are journalled once in this time. */
const NOTED_MS = 3_600_000
const NOTED = 4096
/** Behind the name of a client: the count of its calls for later, as they are given. */
const GIVEN = ' given'

export interface ClientsParts {
  memory: Memory
  journal: Journal
  knownChats: ClientFacts['knownChats']
  clock: { expiryNowMs(): number }
  /** Those of the settings. */
  given: readonly Client[]
}

/** A client without the kinds of chats and the rights that records of an earlier version may have. */
const ofNow = ({ may, chats, ...client }: Client): Client => ({
  ...client,
  may: may.filter((right) => RIGHTS.has(right)),
  chats: chats.filter((chat) => chat === 'all' || typeof chat === 'number'),
})
const RIGHTS: ReadonlySet<Right> = new Set(
  Object.values(NEEDS).flatMap((need) => (need === null || need === 'anybody' ? [] : [need.right])),
)

/** The clients of the bot's door: those of the settings, and those that were added by command. */
export class Clients {
  readonly #parts: ClientsParts
  readonly #added = new Map<string, Client>()
  readonly #noted: BoundedMap<string, true>

  private constructor(parts: ClientsParts) {
    this.#parts = parts
    this.#noted = new BoundedMap(NOTED, { ttlMs: NOTED_MS, nowMs: () => parts.memory.nowMs() })
  }

  static async load(parts: ClientsParts): Promise<Clients> {
    const clients = new Clients(parts)
    const added = clients.#added
    await parts.memory.keep('clients', async (records, names) => {
      const rows = await records.clients.of(names)
      for (const name of names ?? []) added.delete(name)
      for (const client of rows) added.set(client.name, ofNow(client))
    })
    return clients
  }

  /** All of them; one of the settings counts before an added one of its name. */
  get all(): Client[] {
    const { given } = this.#parts
    const added = [...this.#added.values()]
    return [...given, ...added.filter(({ name }) => !given.some((one) => one.name === name))]
  }

  /** The client of a token, as memory has it; null: it is of none. @param credential its SHA-256 */
  find(credential: string): Client | null {
    return this.all.find((client) => client.credential === credential) ?? null
  }

  /**
   * Lets a call of a client through, by its rights as any sidecar has written them by now.
   * @throws Refusal `postern_not_allowed`, `unauthorized` once it is removed, `rate_limited`,
   *   `postern_store_unwritable`
   */
  async admit({ credential }: Client, act: ClientAct): Promise<void> {
    await this.#parts.memory.fresh()
    const client = this.find(credential)
    if (client === null) throw new Refusal('unauthorized', 'the client was removed')
    const lack = lackOf(client, act, this.#facts())
    if (lack !== null) {
      await this.#note(client, lack, act).catch(() => undefined)
      refuseLack(client, lack)
    }
    if (act.call !== 'sendMessage' && act.call !== 'editMessage') return
    await this.#pace(client, act.isLater === true ? GIVEN : '')
  }

  /** The same for a call that a client gave earlier, by its rights of now; `leaves` counts it. */
  async admitLater(name: string, act: ClientAct): Promise<void> {
    await this.#parts.memory.fresh()
    const client = this.named(name)
    if (client === null) throw new Refusal('postern_not_allowed', `client ${name} was removed`)
    const lack = lackOf(client, act, this.#facts())
    if (lack !== null) refuseLack(client, lack)
  }

  /**
   * Counts a call that was given earlier, right before it leaves.
   * @throws Refusal `rate_limited`, `postern_store_unwritable`
   */
  async leaves(name: string): Promise<void> {
    const client = this.named(name)
    if (client !== null) await this.#pace(client, '')
  }

  /** Whether answers to a caller show who is in a chat: to one that may read it; null: the bot itself. */
  seesPeople(client: Client | null, chatId: number): boolean {
    const reading: ClientAct = { call: 'getMembers', chatIds: [chatId] }
    return client === null || lackOf(client, reading, this.#facts()) === null
  }

  named(name: string): Client | null {
    return this.all.find((one) => one.name === name) ?? null
  }

  /** Whether a client may see an update, by its rights of now; null: it may read none. */
  reader(client: Client): ((update: unknown) => boolean) | null {
    const lack = lackOf(client, { call: 'getUpdates', chatIds: [] }, this.#facts())
    return lack === null ? (update) => mayRead(client, update, this.#facts()) : null
  }

  /** Adds a client. @throws OperatorError `refused` when there is one of its name */
  async add(client: Client): Promise<void> {
    const { name } = client
    await this.#change(name, 'client-added', () => {
      if (this.all.some((one) => one.name === name)) {
        throw refusedError(`there is a client ${name} already`, 'choose another name')
      }
      if (this.all.length >= MOST_CLIENTS) {
        throw refusedError(`there are ${MOST_CLIENTS} clients already`, 'remove one first')
      }
      return client
    })
  }

  /** Gives a client another token; the one before opens nothing any more. @throws as `remove` */
  async rotate(name: string, credential: string): Promise<void> {
    await this.#change(name, 'client-rotated', () => ({ ...this.#addedOne(name), credential }))
  }

  /** @throws OperatorError `refused` when no such client was added by command */
  async remove(name: string): Promise<void> {
    await this.#change(name, 'client-removed', () => {
      this.#addedOne(name)
      return null
    })
  }

  /** @param decide in the write, by the clients as they are then; null removes it */
  async #change(
    name: string,
    kind: 'client-added' | 'client-rotated' | 'client-removed',
    decide: () => Client | null,
  ): Promise<void> {
    const { journal } = this.#parts
    let client: Client | null = null
    const write = async ({ clients }: Records): Promise<void> => {
      client = decide()
      await (client === null ? clients.remove(name) : clients.save(client))
    }
    await journal.record([{ kind, detail: { client: name } }], write, () => {
      if (client === null) this.#added.delete(name)
      else this.#added.set(name, client)
    })
  }

  #addedOne(name: string): Client {
    const client = this.#added.get(name)
    if (client !== undefined) return client
    throw refusedError(
      `there is no client ${name} that was added by command`,
      '`postern client list` shows them; one of the settings is changed there',
    )
  }

  #facts(): ClientFacts {
    const { clock, knownChats, memory } = this.#parts
    return { nowMs: Math.max(clock.expiryNowMs(), memory.nowMs()), knownChats }
  }

  /**
   * One number in the store, so that the rate counts for all sidecars and over a restart.
   * @param what the count: of calls that leave (empty), or `GIVEN`
   */
  async #pace({ name, rate }: Client, what: string): Promise<void> {
    if (rate === null) return
    const { memory } = this.#parts
    const counted = name + what
    await memory.note(async ({ clients }) => {
      const before = await clients.nextAtMs(counted)
      const next = paced(rate, { nextAtMs: before, nowMs: memory.nowMs() })
      if ('nextAtMs' in next) return await clients.setNextAt(counted, next.nextAtMs, before)
      const extra = { retryAfter: Math.ceil(next.waitMs / 1000) }
      throw new Refusal('rate_limited', `client ${name}: its rate is used up`, { extra })
    })
  }

  async #note({ name }: Client, { what }: Lack, { call, chatIds }: ClientAct): Promise<void> {
    const key = `${name} ${what}`
    if (this.#noted.has(key)) return
    this.#noted.set(key, true)
    const detail = { client: name, lacks: what, call: call ?? 'other' }
    const change = { kind: 'client-refused' as const, chatId: chatIds[0] ?? null, detail }
    await this.#parts.journal.record([change])
  }
}
