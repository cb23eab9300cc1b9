import { Listeners } from '../../util/listeners.ts'
import { TooManyChatsError } from '../../errors.ts'
import type { KnownChat, Memory, Records } from '../memory.ts'
import type { Journal, TrustChange } from '../people/journal.ts'
import { join, tighten, unseen, type ChatSighting } from './tightening.ts'

/** How many chats are remembered: forgetting one would loosen it, so the next is refused. */
const MOST_CHATS = 250_000

/** Journal entries about chats: changes by the service, and decisions of the operator. */
type ChatChange = Extract<
  TrustChange,
  {
    kind: 'kind-tightened' | 'kind-corrected' | 'latch-lifted' | 'person-bound' | 'private-readable'
  }
>

export interface KnownChatsOptions {
  /** `MOST_CHATS` when not given. */
  maxChats?: number
  /** Records changes in the same transaction. */
  journal?: Pick<Journal, 'append'>
}

/** A change of known chats by the operator, a refusal or sightings. */
export interface ChatEdit {
  /** Null: nothing changes. */
  change: (known: KnownChat) => KnownChat | null
  journal?: (before: KnownChat, after: KnownChat) => ChatChange[]
  /** The operator lifts latches by it. */
  isLift?: boolean
}

/**
 * Kinds, latches and the people of private chats. They only tighten
 * until the operator loosens them. A sighting counts from the call of `saw` on, before it is on disk.
 * All calls that write throw Refusal `postern_store_unwritable`.
 */
export class KnownChats {
  readonly #memory: Memory
  /** As the store has them. */
  readonly #chats = new Map<number, KnownChat>()
  readonly #unwritten = new Map<number, ChatSighting>()
  readonly #maxChats: number
  readonly #journal: KnownChatsOptions['journal']
  readonly #refusals = new Listeners()
  /** Calls back with each refusal of a new chat. */
  readonly onFull = this.#refusals.add
  readonly #rereads = new Listeners<number>()
  /** Calls back with a chat that another sidecar has changed: cached answers about it are stale. */
  readonly onReread = this.#rereads.add
  #privateReadable = false

  private constructor(memory: Memory, { maxChats = MOST_CHATS, journal }: KnownChatsOptions) {
    this.#memory = memory
    this.#maxChats = maxChats
    this.#journal = journal
  }

  static async load(memory: Memory, options: KnownChatsOptions = {}): Promise<KnownChats> {
    const knownChats = new KnownChats(memory, options)
    const chats = knownChats.#chats
    memory.writeFirst({
      isDue: () => knownChats.#unwritten.size > 0,
      save: (records) => knownChats.#saveUnwritten(records),
    })
    await memory.keep('chats', async (records, chatIds) => {
      for (const chat of await records.chats.of(chatIds)) chats.set(chat.id, chat)
      for (const id of chatIds ?? []) knownChats.#rereads.emit(Number(id))
    })
    await memory.keep('flags', async (records) => {
      knownChats.#privateReadable = await records.chats.isPrivateReadable()
    })
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

  isUnwritten(chatId: number): boolean {
    return this.#unwritten.has(chatId)
  }

  isPrivate(chatId: number): boolean {
    return this.get(chatId)?.kind === 'private'
  }

  /** Whose private chat it is; null while unknown, and for any other chat. */
  personOf(chatId: number): number | null {
    return this.isPrivate(chatId) ? (this.get(chatId)?.personId ?? null) : null
  }

  isLatched(chatId: number): boolean {
    return this.get(chatId)?.latchedAtMs != null
  }

  /** Whether the operator has made private chats readable. */
  get privateReadable(): boolean {
    return this.#privateReadable
  }

  /**
   * Records sightings in one write, and resolves once they are on disk. They count from the call on,
   * also when this rejects.
   * @param fresh reads what any sidecar has written
   */
  async saw(
    sightings: readonly ChatSighting[],
    fresh = (): Promise<void> => this.#memory.fresh(),
  ): Promise<void> {
    const tooMany = sightings.filter((one) => !this.#hold(one))
    const isHeld = ({ chatId }: ChatSighting): boolean => this.#unwritten.has(chatId)
    // a write reads the same first
    if (!sightings.some((one) => isHeld(one) && !this.#isKnown(one.chatId))) {
      await fresh().catch(async (error: unknown) => {
        await this.#memory.settle()
        throw error
      })
    }
    for (const { chatId } of sightings) if (this.#isKnown(chatId)) this.#unwritten.delete(chatId)
    if (sightings.some(isHeld)) await this.#memory.settle()
    if (tooMany.length === 0) return
    this.#refusals.emit()
    const detail = `no more than ${this.#maxChats} chats are remembered, and this one is new`
    throw new TooManyChatsError('postern_store_unwritable', detail)
  }

  /** @returns false where the chat is one too many */
  #hold(seen: ChatSighting): boolean {
    const { chatId } = seen
    const known = this.get(chatId)
    const before = known ?? unseen(chatId)
    const after = this.#tighten(before, seen)
    // another sidecar may have loosened a shared store since
    if (after === before && (known === undefined || !this.#memory.isShared)) return true
    const size = this.#chats.size + this.#unwritten.size
    if (known === undefined && size >= this.#maxChats) return false
    const isPrivate = after.kind === 'private'
    this.#unwritten.set(chatId, join(this.#unwritten.get(chatId), seen, isPrivate))
    return true
  }

  /** Whether the store has all that was seen of a chat. */
  #isKnown(chatId: number): boolean {
    const stored = this.#chats.get(chatId)
    const seen = this.#unwritten.get(chatId)
    return stored !== undefined && (seen === undefined || this.#tighten(stored, seen) === stored)
  }

  async #saveUnwritten(records: Records): Promise<() => void> {
    const written = new Map(this.#unwritten)
    const { onWritten } = await this.#save(records, written.keys(), {
      change: (before) => {
        const after = this.#tighten(before, written.get(before.id) ?? { chatId: before.id })
        return after === before ? null : after
      },
      journal: ({ id: chatId, kind: from }, { kind: to }) =>
        from === 'unknown' || from === to
          ? []
          : [{ kind: 'kind-tightened', chatId, detail: { from, to } }],
    })
    return () => {
      for (const [id, seen] of written) {
        if (this.#unwritten.get(id) === seen) this.#unwritten.delete(id)
      }
      onWritten()
    }
  }

  /** Changes chats as the store has them. `onWritten` is called once it has the changes. */
  async #save(
    records: Records,
    chatIds: Iterable<number>,
    { change, journal, isLift = false }: ChatEdit,
  ) {
    const changed: KnownChat[] = []
    const changes: ChatChange[] = []
    for (const id of chatIds) {
      const before = this.#chats.get(id) ?? unseen(id)
      const after = change(before)
      if (after === null) continue
      changed.push(after)
      changes.push(...(journal?.(before, after) ?? []))
    }
    await records.chats.save(changed, isLift ? { liftedAtMs: this.#memory.nowMs() } : {})
    const announce = await this.#journal?.append(records, changes)
    const onWritten = (): void => {
      for (const chat of changed) this.#chats.set(chat.id, chat)
      announce?.()
    }
    return { changed, onWritten }
  }

  /** Has the other sidecars drop cached answers about chats where somebody joined or left. */
  async sawNotices(chatIds: readonly number[]): Promise<void> {
    if (!this.#memory.isShared || chatIds.length === 0) return
    await this.#memory.write(({ chats }) => chats.touch(chatIds))
  }

  /** Records a refusal of readable text, for `chat allow-readable --pending`. */
  async refused(chatId: number): Promise<void> {
    if (this.get(chatId)?.refusedAtMs !== null) return
    await this.edit([chatId], {
      change: (known) =>
        known.refusedAtMs === null ? { ...known, refusedAtMs: this.#memory.nowMs() } : null,
    })
  }

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

  /** Changes chats as the store has them in this write. @returns the chats that changed */
  async edit(chatIds: readonly number[], change: ChatEdit): Promise<number[]> {
    if (chatIds.length === 0) return []
    const { changed } = await this.#memory.write(
      (records) => this.#save(records, new Set(chatIds), change),
      ({ onWritten }) => onWritten(),
    )
    return changed.map(({ id }) => id)
  }

  #tighten(known: KnownChat, seen: ChatSighting): KnownChat {
    return tighten(known, seen, this.#memory.nowMs())
  }
}
