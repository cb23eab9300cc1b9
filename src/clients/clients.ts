/** The clients of the bot's door, and the one place where their rights are asked (may-client.ts). */
import { Refusal, refusedError } from '../errors.ts'
import type { Journal, TrustChange } from '../kernel/index.ts'
import { BoundedMap } from '../util/bounded-map.ts'
import { lackOf, mayRead, OWN_CALL, paced } from './may-client.ts'
import type { ClientAct, ClientFacts, Lack, StillMay } from './may-client.ts'
import type { Client, ClientMemory } from './records.ts'

/** More than anybody needs, and few enough to read at once. */
const MOST_CLIENTS = 1000
/** Equal refusals of a client are journalled once in this time. */
const NOTED_MS = 3_600_000
const NOTED = 4096
/** Behind the name of a client: the count of its calls for later, as they are given. */
const GIVEN = ' given'
/** The longest duration of a call or a poll: a later expiry needs no timer. */
const LONGEST_CALL_MS = 600_000
const GONE: Lack = { what: 'client', detail: 'it was removed, or has another token' }

/** Who gave a call earlier: the name of a client and the credential that it had; null: the bot. */
export interface LaterCaller {
  client: string | null
  credential: string | null
}

export interface ClientsParts {
  memory: ClientMemory
  journal: Journal
  knownChats: ClientFacts['knownChats']
  clock: { expiryNowMs(): number }
  /** Those of the settings. */
  given: readonly Client[]
}

/** A decision of the operator about a client. */
type ClientChange = Exclude<
  Extract<TrustChange['kind'], `client-${string}`>,
  'client-refused' | 'client-call-refused'
>

/** How a call is refused whose credential is nobody's: at once, or later. */
type GoneCode = 'unauthorized' | 'postern_not_allowed'

const refusalOf = ({ name }: { name: string }, lack: Lack, gone: GoneCode): Refusal => {
  const code = lack.what === 'suspended' ? 'postern_client_suspended' : 'postern_not_allowed'
  return new Refusal(lack === GONE ? gone : code, `client ${name}: ${lack.detail}`)
}

/** Those of the settings, and those that were added by command. */
export class Clients {
  readonly #parts: ClientsParts
  readonly #added = new Map<string, Client>()
  readonly #noted: BoundedMap<string, true>
  /** By credential: aborted once it is nobody's any more. */
  readonly #endings = new Map<string, AbortController>()

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
      for (const client of rows) added.set(client.name, client)
      clients.#endGone()
    })
    return clients
  }

  /** All of them; one of the settings counts before an added one of its name. */
  get all(): Client[] {
    const { given } = this.#parts
    const added = [...this.#added.values()]
    return [...given, ...added.filter(({ name }) => !given.some((one) => one.name === name))]
  }

  /** The client of a token, as memory has it; null: it is of none. @param credential its SHA-256, if any */
  find(credential: string | null): Client | null {
    if (credential === null) return null
    return this.all.find((client) => client.credential === credential) ?? null
  }

  /**
   * Lets a call through, of a client by its rights as any sidecar has written them by now.
   * @param client null: the bot itself
   * @returns asks again, before anything is given or leaves
   * @throws Refusal `postern_not_allowed`, `unauthorized` once it is removed, `rate_limited`,
   *   `postern_store_unwritable`
   */
  admit(client: Client | null, act: ClientAct): StillMay | Promise<StillMay> {
    return client === null ? OWN_CALL : this.#admit(client, act)
  }

  async #admit(client: Client, act: ClientAct): Promise<StillMay> {
    await this.#parts.memory.fresh()
    const { credential } = client
    const lack = this.#lackOf(credential, act)
    if (lack !== null) {
      if (lack !== GONE) await this.#note(client, lack, act).catch(() => undefined)
      throw refusalOf(client, lack, 'unauthorized')
    }
    const isWords = act.call === 'sendMessage' || act.call === 'editMessage'
    if (isWords) await this.#pace(client, act.isLater === true ? GIVEN : '')
    return this.#stillMay(client, act, 'unauthorized')
  }

  /** The same for a call that was given earlier; `leaves` counts it. */
  async admitLater({ client: name, credential }: LaterCaller, act: ClientAct): Promise<StillMay> {
    if (name === null) return OWN_CALL
    const stillMay = this.#stillMay({ name, credential }, act, 'postern_not_allowed')
    await stillMay.ask()
    return stillMay
  }

  /** Whether a call that was given earlier has lost its caller, as memory has it. */
  hasLost({ client, credential }: LaterCaller): boolean {
    return client !== null && this.#lackOf(credential, { call: 'getMe', chatIds: [] }) !== null
  }

  #stillMay(caller: { name: string; credential: string | null }, act: ClientAct, gone: GoneCode) {
    const require = (): void => {
      const lack = this.#lackOf(caller.credential, act)
      if (lack !== null) throw refusalOf(caller, lack, gone)
    }
    const ask = async (): Promise<void> => {
      await this.#parts.memory.fresh()
      require()
    }
    return { require, ask, ended: this.#endedOf(caller.credential) }
  }

  #lackOf(credential: string | null, act: ClientAct): Lack | null {
    const client = this.find(credential)
    return client === null ? GONE : lackOf(client, act, this.#facts())
  }

  #endedOf(credential: string | null): AbortSignal {
    const client = this.find(credential)
    if (credential === null || client === null) return AbortSignal.abort()
    const ending = this.#endings.get(credential) ?? new AbortController()
    this.#endings.set(credential, ending)
    const leftMs = (client.expiresAtMs ?? Infinity) - this.#facts().nowMs
    if (leftMs > LONGEST_CALL_MS) return ending.signal
    return AbortSignal.any([ending.signal, AbortSignal.timeout(Math.max(0, leftMs))])
  }

  #endGone(): void {
    for (const [credential, ending] of this.#endings) {
      if (this.find(credential) !== null) continue
      this.#endings.delete(credential)
      ending.abort()
    }
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

  /** Suspends those that were added by command, and may be removed since the backup. */
  async suspendAdded(): Promise<string[]> {
    const names = [...this.#added.keys()]
    for (const name of names) {
      const suspended = () => ({ ...this.#addedOne(name), isSuspended: true as const })
      await this.#change(name, 'client-suspended', suspended)
    }
    return names
  }

  /** Lets a suspended client call again. @throws as `remove` */
  async confirm(name: string): Promise<void> {
    await this.#change(name, 'client-confirmed', () => {
      const { isSuspended: _suspended, ...client } = this.#addedOne(name)
      return client
    })
  }

  /** @param decide in the write, by the clients as they are then; null removes it */
  async #change(name: string, kind: ClientChange, decide: () => Client | null): Promise<void> {
    const { journal, memory } = this.#parts
    await memory.write(
      async (records) => {
        const client = decide()
        await (client === null ? records.clients.remove(name) : records.clients.save(client))
        const announce = await journal.append(records, [{ kind, detail: { client: name } }])
        return { client, announce }
      },
      ({ client, announce }) => {
        if (client === null) this.#added.delete(name)
        else this.#added.set(name, client)
        this.#endGone()
        announce()
      },
    )
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
