import type { JournalEntry, Memory, Records } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'

/** What can change about whom we seal to and whose words we believe. */
export type TrustChange =
  /** The service lists another certificate for a person than before. */
  | { kind: 'key-changed'; userId: number; detail: { from: string; to: string; standing: string } }
  /** The service lists none for a person any more. */
  | { kind: 'key-withdrawn'; userId: number; detail: { from: string; standing: string } }
  /** Several people are listed with one certificate; at most 100 are named. */
  | {
      kind: 'certificate-shared'
      detail: { fingerprint: string; people: number[]; owner: number | null }
    }
  /** A certificate that we know was revoked by its owner. */
  | { kind: 'key-revoked'; userId: number; detail: { fingerprint: string } }
  /** Who gets what is written into a chat; at most 100 people are named each way. */
  | {
      kind: 'recipients-changed'
      chatId: number
      detail: { count: number; added: number[]; removed: number[]; changed: number[] }
    }
  /**
   * The key list of a chat contradicts itself; nothing is sealed by it. `stranger` is who else it
   * names in somebody's private chat.
   */
  | { kind: 'list-contradicts'; chatId: number; detail: { why: string; stranger?: number } }
  /** The key list of a chat lost half of its people or more within a day. */
  | { kind: 'list-shrank'; chatId: number; detail: { from: number; to: number } }
  /** People are listed with a key of the bot's own; at most 100 are named. */
  | {
      kind: 'own-key-listed'
      userId: number
      detail: { chatId: number | null; people: number[] }
    }
  /** Somebody wrote or pressed in a private chat that is another person's. */
  | { kind: 'stranger'; chatId: number; userId: number; detail: Record<string, never> }
  /** The operator spoke. */
  | { kind: 'accepted' | 'verified'; userId: number; detail: { fingerprint: string } }
  | { kind: 'blocked'; userId: number; detail: Record<string, never> }
  | { kind: 'policy'; chatId: number | null; detail: { policy: string | null } }
  /** The service shows a chat as one of a stricter kind; the operator took that back. */
  | {
      kind: 'kind-tightened' | 'kind-corrected'
      chatId: number
      detail: { from: string; to: string }
    }
  /** The operator loosened what is known of a chat, or of all private chats. */
  | { kind: 'latch-lifted'; chatId: number; detail: Record<string, never> }
  | { kind: 'private-readable'; chatId: null; detail: Record<string, never> }
  | { kind: 'person-bound'; chatId: number; userId: number; detail: { before: number | null } }

/** The append-only record of changes: nothing in it is ever rewritten; only the oldest go. */
export class Journal {
  readonly #memory: Memory
  readonly #changes = new Listeners<TrustChange>()

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** Calls back with every change once it is on disk. */
  onChange(listener: (change: TrustChange) => void): void {
    this.#changes.add(listener)
  }

  /**
   * Writes changes down, together with what they change. Without any, it is noted: to know it
   * although this rejects does no harm.
   * @param change runs in the same transaction, first; what it gives is written down in place of
   *   `changes`, which were computed before what other sidecars wrote was known
   * @param onWritten called once changes are on disk, before any other write begins
   * @throws Refusal `postern_store_unwritable`; then nothing was changed
   */
  async record(
    changes: readonly TrustChange[],
    change: (records: Records) => Promise<readonly TrustChange[] | void> = async () => {},
    onWritten = (): void => {},
  ): Promise<void> {
    const write = async (records: Records): Promise<() => void> =>
      await this.append(records, (await change(records)) ?? changes)
    if (changes.length === 0) return (await this.#memory.note(write, { isOrdered: true }))()
    await this.#memory.write(write, (announce) => {
      onWritten()
      announce()
    })
  }

  /** Writes changes down within a write. @returns what calls the listeners, once it is on disk */
  async append({ journal }: Records, changes: readonly TrustChange[]): Promise<() => void> {
    for (const one of changes) {
      const { kind, detail } = one
      const userId = 'userId' in one ? one.userId : null
      const chatId = 'chatId' in one ? one.chatId : null
      await journal.append({ kind, userId, chatId, detail })
    }
    return () => changes.forEach((one) => this.#changes.emit(one))
  }

  /**
   * Entries in the order in which they were written.
   * @param from `afterId` gives what came later than that entry, `sinceMs` than that time;
   *   `limit` at most so many
   */
  async read(from: { afterId: number; sinceMs: number; limit: number }): Promise<JournalEntry[]> {
    return await this.#memory.read(({ journal }) => journal.read(from))
  }
}
