import { Listeners } from '../../util/listeners.ts'
import { TooManyChatsError } from '../../errors.ts'
import type { KnownChat, Memory, Records } from '../memory.ts'
import type { Journal, TrustChange } from '../people/journal.ts'
import { join, tighten, unseen, type ChatSighting } from './tightening.ts'

/**
 * How many chats are remembered. Forgetting one would loosen it, so a new chat beyond these is
 * refused.
 */
const MOST_CHATS = 250_000

/** What the journal keeps of chats: what the service changed, and what the operator loosened. */
type ChatChange = Extract<
  TrustChange,
  {
    kind: 'kind-tightened' | 'kind-corrected' | 'latch-lifted' | 'person-bound' | 'private-readable'
  }
>

export interface KnownChatsOptions {
  /** `MOST_CHATS` when not given. */
  maxChats?: number
  /** Writes changes down in the same transaction. @returns what announces them once they are on disk */
  journal?: Pick<Journal, 'append'>
}

/** A change of known chats by the operator, or by a refusal of ours. */
export interface ChatEdit {
  /** Null: nothing changes. */
  change: (known: KnownChat) => KnownChat | null
  journal?: (before: KnownChat) => ChatChange[]
  /** The operator lifts latches by it. */
  isLift?: boolean
}

/**
 * Kinds, latches and the people of private chats (DESIGN: The guard, Sealing). All of them only
 * tighten until the operator loosens them. A sighting counts from the moment of `saw`, on disk or
 * not: what is not on disk is merged into every answer of this class.
 */
export class KnownChats {
  readonly #memory: Memory
  /** As the store has them. */
  readonly #chats = new Map<number, KnownChat>()
  readonly #unwritten = new Map<number, ChatSighting>()
  readonly #maxChats: number
  readonly #journal: KnownChatsOptions['journal']
  readonly #refusals = new Listeners()
  readonly #rereads = new Listeners<number>()
  #privateReadable = false

  private constructor(memory: Memory, { maxChats = MOST_CHATS, journal }: KnownChatsOptions) {
    this.#memory = memory
    this.#maxChats = maxChats
    this.#journal = journal
  }

  /** Calls back when a new chat is refused because there are too many. */
  onFull(listener: () => void): void {
    this.#refusals.add(listener)
  }

  /**
   * Calls back with a chat of which another sidecar has learned something, or a notice came: what is
   * kept of the service's answers about it is stale.
   */
  onReread(listener: (chatId: number) => void): void {
    this.#rereads.add(listener)
  }

  static async load(memory: Memory, options: KnownChatsOptions = {}): Promise<KnownChats> {
    const knownChats = new KnownChats(memory, options)
    const chats = knownChats.#chats
    const readFlag = async (records: Records): Promise<void> => {
      knownChats.#privateReadable = await records.chats.isPrivateReadable()
    }
    memory.writeFirst({
      isDue: () => knownChats.#unwritten.size > 0,
      save: (records) => knownChats.#saveUnwritten(records),
    })
    await memory.keep('chats', async (records, chatIds) => {
      for (const chat of await records.chats.of(chatIds)) chats.set(chat.id, chat)
      for (const id of chatIds ?? []) knownChats.#rereads.emit(Number(id))
    })
    await memory.keep('flags', readFlag)
    return knownChats
  }

  /** Every chat known, by id. */
  get all(): KnownChat[] {
    const ids = new Set([...this.#chats.keys(), ...this.#unwritten.keys()])
    return [...ids].flatMap((id) => this.get(id) ?? []).sort((a, b) => a.id - b.id)
  }

  get(chatId: number): KnownChat | undefined {
    const stored = this.#chats.get(chatId)
    const seen = this.#unwritten.get(chatId)
    return seen === undefined ? stored : this.#tighten(stored ?? unseen(chatId), seen)
  }

  /** Whether something was observed of a chat that is not on disk yet. */
  isUnwritten(chatId: number): boolean {
    return this.#unwritten.has(chatId)
  }

  isPrivate(chatId: number): boolean {
    return this.get(chatId)?.kind === 'private'
  }

  /** Whose private chat it is, once that was learned; null for any other chat. */
  personOf(chatId: number): number | null {
    return this.isPrivate(chatId) ? (this.get(chatId)?.personId ?? null) : null
  }

  isLatched(chatId: number): boolean {
    return this.get(chatId)?.latchedAtMs != null
  }

  /** Whether the operator let private chats be readable again. */
  get privateReadable(): boolean {
    return this.#privateReadable
  }

  /**
   * Records what the service said of chats, and resolves once it is on disk. It counts from the call
   * on, also when this rejects, and is compared with what any sidecar has written by then. One write
   * for all that is new.
   * @param fresh brings what is remembered up to what any sidecar has written
   * @throws Refusal `postern_store_unwritable`
   */
  async saw(
    sightings: readonly ChatSighting[],
    fresh = (): Promise<void> => this.#memory.fresh(),
  ): Promise<void> {
    const tooMany = sightings.filter((one) => !this.#hold(one))
    await fresh().catch(async (error: unknown) => {
      await this.#memory.settle()
      throw error
    })
    for (const { chatId } of sightings) this.#dropKnown(chatId)
    if (sightings.some(({ chatId }) => this.#unwritten.has(chatId))) await this.#memory.settle()
    if (tooMany.length > 0) throw this.#full()
  }

  /** Merges a sighting into every answer from now on. @returns false where it is a chat too many */
  #hold(seen: ChatSighting): boolean {
    const { chatId } = seen
    const known = this.get(chatId)
    const before = known ?? unseen(chatId)
    const after = this.#tighten(before, seen)
    // of a store that others write, memory may hold what they have loosened since
    if (after === before && (known === undefined || !this.#memory.isShared)) return true
    const size = this.#chats.size + this.#unwritten.size
    if (known === undefined && size >= this.#maxChats) return false
    const isPrivate = after.kind === 'private'
    this.#unwritten.set(chatId, join(this.#unwritten.get(chatId), seen, isPrivate))
    return true
  }

  #dropKnown(chatId: number): void {
    const stored = this.#chats.get(chatId)
    const seen = this.#unwritten.get(chatId)
    if (stored !== undefined && seen !== undefined && this.#tighten(stored, seen) === stored) {
      this.#unwritten.delete(chatId)
    }
  }

  async #saveUnwritten(records: Records): Promise<() => void> {
    const written = [...this.#unwritten]
    const changed: KnownChat[] = []
    const changes: ChatChange[] = []
    for (const [id, seen] of written) {
      const before = this.#chats.get(id) ?? unseen(id)
      const after = this.#tighten(before, seen)
      if (after === before) continue
      changed.push(after)
      const [from, to] = [before.kind, after.kind]
      if (from !== 'unknown' && from !== to) {
        changes.push({ kind: 'kind-tightened', chatId: id, detail: { from, to } })
      }
    }
    await records.chats.save(changed)
    const announce = await this.#journal?.append(records, changes)
    return () => {
      for (const chat of changed) this.#chats.set(chat.id, chat)
      for (const [id, seen] of written) {
        if (this.#unwritten.get(id) === seen) this.#unwritten.delete(id)
      }
      announce?.()
    }
  }

  /**
   * Notices of the service came: somebody joined or left, or a chat has changed. Other sidecars of
   * the bot, which do not see them, are told.
   * @throws Refusal `postern_store_unwritable`
   */
  async sawNotices(chatIds: readonly number[]): Promise<void> {
    if (!this.#memory.isShared || chatIds.length === 0) return
    await this.#memory.write(({ chats }) => chats.touch(chatIds))
  }

  /** Readable text was refused for a chat; remembered for `chat allow-readable --pending`. */
  async refused(chatId: number): Promise<void> {
    if (this.get(chatId)?.refusedAtMs !== null) return
    await this.edit([chatId], {
      change: (known) =>
        known.refusedAtMs === null ? { ...known, refusedAtMs: this.#memory.nowMs() } : null,
    })
  }

  /**
   * Writes that private chats may be readable (`true`) or are protected again.
   * @throws Refusal `postern_store_unwritable`
   */
  async setPrivateReadable({ readable }: { readable: boolean }): Promise<void> {
    await this.#memory.write(
      async (records) => {
        await records.chats.setPrivateReadable(readable ? this.#memory.nowMs() : null)
        if (!readable) return undefined
        return await this.#journal?.append(records, [
          { kind: 'private-readable', chatId: null, detail: {} },
        ])
      },
      (announce) => {
        this.#privateReadable = readable
        announce?.()
      },
    )
  }

  /**
   * Changes chats, as the store has them in this write; for `chat-decisions.ts` and refusals.
   * @returns the chats that changed
   * @throws Refusal `postern_store_unwritable`
   */
  async edit(
    chatIds: readonly number[],
    { change, journal, isLift = false }: ChatEdit,
  ): Promise<number[]> {
    if (chatIds.length === 0) return []
    const written = await this.#memory.write(
      async (records) => {
        const changed: KnownChat[] = []
        const changes: ChatChange[] = []
        for (const id of new Set(chatIds)) {
          const before = this.#chats.get(id) ?? unseen(id)
          const after = change(before)
          if (after === null) continue
          changed.push(after)
          changes.push(...(journal?.(before) ?? []))
        }
        await records.chats.save(changed, isLift ? { liftedAtMs: this.#memory.nowMs() } : {})
        return { changed, announce: await this.#journal?.append(records, changes) }
      },
      ({ changed, announce }) => {
        for (const chat of changed) this.#chats.set(chat.id, chat)
        announce?.()
      },
    )
    return written.changed.map(({ id }) => id)
  }

  #tighten(known: KnownChat, seen: ChatSighting): KnownChat {
    return tighten(known, seen, this.#memory.nowMs())
  }

  #full(): TooManyChatsError {
    this.#refusals.emit()
    return new TooManyChatsError(
      'postern_store_unwritable',
      `no more than ${this.#maxChats} chats are remembered, and this one is new`,
    )
  }
}
