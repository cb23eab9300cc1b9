import { fromRow, isReady, readyKey, Clocks } from '../kernel/index.ts'
import type { Memory, OwnKeyRecord, OwnKeyRow, OwnKeys } from '../kernel/index.ts'
import type { ReadyKey, Records, Time } from '../kernel/index.ts'
import type { Engine, OwnKey, OwnKeyAlgorithm, UnlockedKey } from '../openpgp/index.ts'
import { Listeners } from '../util/listeners.ts'
import { keyReader } from './key-reader.ts'
import { makeKey, type Locking, type MadeKey } from './make-key.ts'
import { nothingToLockUnder, otherPending, tooMany } from './keyring-refusals.ts'

/**
 * How many keys open at most, the newest first: a bound on the keys tried for a message, and
 * unlocked at a start.
 */
export const MAX_OPENING = 32

export interface KeyringOptions {
  time: Time
  /** Setting `key.algorithm`: of keys that are made; `classic` when not set. */
  algorithm?: OwnKeyAlgorithm
  /** Setting `key.retainDays`, in ms: how long a retired key opens. */
  retainMs: number
  /** The time by the service's clock, ms since the epoch; null while unknown. */
  serviceNowMs: () => number | null
  /** `MAX_OPENING` when absent. */
  opensMost?: number
}

/**
 * The bot's own keys: all that can decrypt, and the one that signs. A change made here is
 * on disk when it resolves; one key at most is pending, and one active.
 */
export class Keyring implements OwnKeys {
  readonly #memory: Memory
  readonly #engine: Engine
  readonly #options: KeyringOptions & { opensMost: number }
  readonly time: Time
  readonly clocks: Clocks
  readonly #reader: ReturnType<typeof keyReader>
  readonly #rereads = new Listeners()
  /** Calls back when another sidecar of this store has changed our keys, once they are as it left them. */
  readonly onReread = this.#rereads.add
  #keys: OwnKeyRecord[] = []
  #fingerprints: { of: OwnKeyRecord[]; all: ReadonlySet<string> } | null = null
  #firstPublishedAtMs: number | null = null

  private constructor(memory: Memory, engine: Engine, options: KeyringOptions) {
    this.#memory = memory
    this.#engine = engine
    this.#options = { opensMost: MAX_OPENING, ...options }
    this.time = options.time
    this.clocks = new Clocks(options.time, options.serviceNowMs)
    this.#reader = keyReader(memory, engine, this.clocks)
  }

  /**
   * Reads and unlocks the keys in the store.
   * @throws OperatorError `store-locked` when a key does not open with the store's master secret,
   *   `store-corrupt` when one in use differs from its row, `store-unwritable`
   */
  static async load(memory: Memory, engine: Engine, options: KeyringOptions): Promise<Keyring> {
    const ring = new Keyring(memory, engine, options)
    let rows: OwnKeyRow[] = []
    await memory.keep('own_keys', async (records, fingerprints) => {
      if (fingerprints === null) rows = await records.ownKeys.of(null)
      else await ring.#reread(records, fingerprints)
    })
    const inUse = rows.filter(({ state }) => state === 'active' || state === 'pending')
    const retired = rows.filter(({ state }) => state === 'retired')
    const opening = new Set([...inUse, ...retired].slice(0, ring.#options.opensMost))
    ring.#keys = await Promise.all(
      rows.map(async (row) => {
        if (inUse.includes(row)) return await ring.#reader.inUse(row)
        return await ring.#reader.old(row, { isOpening: opening.has(row) })
      }),
    )
    await memory.keep('flags', async ({ ownKeys }) => {
      ring.#firstPublishedAtMs = await ownKeys.firstPublishedAtMs()
    })
    return ring
  }

  /** The published key, which signs; undefined before the first publication. */
  get active(): ReadyKey | undefined {
    return readyKey(this.#keys, 'active')
  }

  /** The key that waits for its publication. */
  get pending(): ReadyKey | undefined {
    return readyKey(this.#keys, 'pending')
  }

  /** Every key that ever was, the destroyed ones too, newest first. */
  get all(): readonly OwnKeyRecord[] {
    return this.#keys
  }

  /** When the oldest key was made that still opens, ms since the epoch; null when there is none. */
  get oldestMs(): number | null {
    const made = this.#keys.filter(isReady).map((key) => key.createdAtMs)
    return made.length === 0 ? null : Math.min(...made)
  }

  /** Fingerprints of all keys that ever were ours, primary keys and subkeys. */
  get fingerprints(): ReadonlySet<string> {
    if (this.#fingerprints?.of !== this.#keys) {
      const all = new Set(this.#keys.flatMap(({ fingerprints }) => fingerprints))
      this.#fingerprints = { of: this.#keys, all }
    }
    return this.#fingerprints.all
  }

  /** The keys that open messages now, the likeliest first. */
  get unlocked(): UnlockedKey[] {
    return this.#keys.filter((key) => this.opens(key)).flatMap(({ unlocked }) => unlocked ?? [])
  }

  /** When any key of ours was first published: from then on private chats are protected. */
  get firstPublishedAtMs(): number | null {
    return this.#firstPublishedAtMs
  }

  find(fingerprint: string): OwnKeyRecord | undefined {
    return this.#keys.find((key) => key.fingerprint === fingerprint.toLowerCase())
  }

  /** Until when a key opens, ms since the epoch; Infinity for one in use, 0 for a destroyed one. */
  opensUntilMs({ state, retiredAtMs }: OwnKeyRecord): number {
    if (state === 'destroyed') return 0
    return state === 'retired' ? (retiredAtMs ?? 0) + this.#options.retainMs : Infinity
  }

  /** Whether a key opens now: its time is over only where both clocks, ours and the service's, agree. */
  opens(key: OwnKeyRecord): boolean {
    return key.unlocked !== null && this.clocks.earliestMs() < this.opensUntilMs(key)
  }

  /**
   * Makes a key, certified by the active one, tries it, and returns it once it is on disk.
   * @param userId free text in the certificate, the bot's name
   * @param algorithm instead of the setting's
   * @throws Refusal `postern_store_unwritable`; OperatorError `store-locked`, or `refused` when as
   *   many keys are open as may be; ClockOff
   */
  async makePending(userId: string, algorithm = this.#options.algorithm): Promise<ReadyKey> {
    return await this.#add(async (o) => {
      const createdAtMs = this.clocks.agreedMs()
      return await makeKey(this.#engine, this.time, { userId, createdAtMs, algorithm, ...o })
    }, 'pending')
  }

  /**
   * Makes a key from elsewhere the pending one; it is on disk when this resolves.
   * @param adopt gives it, certified by the active one and locked under `passphrase`
   * @throws the error of `adopt`, and as `makePending` does
   */
  async takePending(adopt: (o: Locking) => Promise<OwnKey>): Promise<ReadyKey> {
    return await this.#add((o) => this.#adopted(adopt, o), 'pending')
  }

  /** The same for a key that opens and never signs: it is retired from now on, certified by none. */
  async takeRetired(adopt: (o: Locking) => Promise<OwnKey>): Promise<ReadyKey> {
    return await this.#add((o) => this.#adopted(adopt, { ...o, certifiedBy: undefined }), 'retired')
  }

  /**
   * Marks, before a publication, that the service may know the key from now on; or, after it has
   * certainly refused the key, that it does not.
   * @throws Refusal `postern_store_unwritable`
   */
  async markOffered(fingerprint: string, atMs: number | null): Promise<void> {
    await this.#memory.write(({ ownKeys }) => ownKeys.setOffered(fingerprint, atMs))
    this.#change(fingerprint, { offeredAtMs: atMs })
  }

  /**
   * Makes a confirmed key the active one, unless it is retired. The one before it retires, by the
   * later of both clocks.
   * @throws Refusal `postern_store_unwritable`
   */
  async promote(fingerprint: string): Promise<void> {
    const nowMs = this.clocks.latestMs()
    const firstMs = await this.#memory.write(async ({ ownKeys }) => {
      const [key] = await ownKeys.of([fingerprint])
      if (key?.state !== 'pending' && key?.state !== 'active') return null
      await ownKeys.promote(fingerprint, nowMs)
      return await ownKeys.firstPublishedAtMs()
    })
    if (firstMs === null) return
    this.#firstPublishedAtMs = firstMs
    const before = this.active
    if (before !== undefined && before.fingerprint !== fingerprint) {
      this.#change(before.fingerprint, { state: 'retired', retiredAtMs: nowMs })
    }
    this.#change(fingerprint, { state: 'active', publishedAtMs: nowMs, retiredAtMs: null })
  }

  /**
   * Forgets a pending key that the service never got to see.
   * @throws Refusal `postern_store_unwritable`
   */
  async discard(fingerprint: string): Promise<void> {
    if (!(await this.#memory.write(({ ownKeys }) => ownKeys.deleteUnoffered(fingerprint)))) {
      throw new Error('the key is not one that can be discarded')
    }
    this.#keys = this.#keys.filter((key) => key.fingerprint !== fingerprint)
    await this.#memory.scrub()
  }

  /**
   * Destroys the secret of a retired key for good; its certificate stays, so that its signatures
   * can be verified. The deleted secret is overwritten on disk as far as possible.
   * @throws Refusal `postern_store_unwritable`
   */
  async destroy(fingerprint: string): Promise<void> {
    const nowMs = this.#memory.nowMs()
    if (!(await this.#memory.write(({ ownKeys }) => ownKeys.eraseSecret(fingerprint, nowMs)))) {
      throw new Error('the key is not one that can be destroyed')
    }
    this.find(fingerprint)?.unlocked?.bytes.fill(0)
    this.#change(fingerprint, { state: 'destroyed', destroyedAtMs: nowMs, unlocked: null })
    await this.#memory.scrub()
  }

  /** Uses a key through its holder from now on. */
  entrust(fingerprint: string, unlocked: UnlockedKey): void {
    this.find(fingerprint)?.unlocked?.bytes.fill(0)
    this.#change(fingerprint, { unlocked })
  }

  async #adopted(adopt: (o: Locking) => Promise<OwnKey>, o: Locking): Promise<MadeKey> {
    const taken = await adopt(o)
    const unlocked = await this.#engine.unlock(taken.locked, o.passphrase)
    return { made: { ...taken, createdAtMs: this.#memory.nowMs() }, unlocked }
  }

  /** Makes the key again when the store was moved to another protection meanwhile. */
  async #add(make: (o: Locking) => Promise<MadeKey>, state: 'pending' | 'retired') {
    for (;;) {
      if (this.unlocked.length >= this.#options.opensMost) throw tooMany(this.#options.opensMost)
      const passphrase = this.#memory.masterSecret
      if (passphrase === null) throw nothingToLockUnder()
      const { made, unlocked } = await make({ passphrase, certifiedBy: this.active?.unlocked })
      const retiredAtMs = state === 'retired' ? this.clocks.latestMs() : null
      const { endsMs } = await this.#reader.judge(made)
      const row = await this.#memory.write(async ({ ownKeys }) => {
        if (this.#memory.masterSecret !== passphrase) return null
        const pending = (await ownKeys.of(null)).find((one) => one.state === 'pending')
        if (state === 'pending' && pending) throw otherPending(pending.fingerprint)
        return await ownKeys.add(made, retiredAtMs)
      })
      if (row === null) continue
      const { fingerprints } = unlocked
      const record = { ...fromRow(row, { unlocked, endsMs, fingerprints }), unlocked }
      this.#keys = [record, ...this.#keys]
      return record
    }
  }

  /** Updates keys with the changes of another sidecar. */
  async #reread({ ownKeys }: Records, fingerprints: readonly string[]): Promise<void> {
    const rows = await ownKeys.of(fingerprints)
    const changed = await Promise.all(
      rows.map((row) => this.#reader.changed(row, this.find(row.fingerprint))),
    )
    const others = this.#keys.filter(({ fingerprint }) => !fingerprints.includes(fingerprint))
    this.#keys = [...changed, ...others].sort((a, b) => b.createdAtMs - a.createdAtMs)
    this.#rereads.emit()
  }

  #change(fingerprint: string, change: Partial<OwnKeyRecord>): void {
    this.#keys = this.#keys.map((key) =>
      key.fingerprint === fingerprint ? { ...key, ...change } : key,
    )
  }
}
