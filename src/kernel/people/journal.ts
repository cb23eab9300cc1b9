import type { JournalEntry, JournalRecords, Memory, Records } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'

type OfPerson<Kind, Detail> = { kind: Kind; userId: number; detail: Detail }
type OfChat<Kind, Detail> = { kind: Kind; chatId: number; detail: Detail }
type Empty = Record<string, never>

/** A change about recipients or trust; at most 100 people are named in each list. */
export type TrustChange =
  /** The service lists another certificate for a person than before; `isBelieved` at once. */
  | OfPerson<'key-changed', { from: string; to: string; standing: string; isBelieved?: true }>
  /** A changed certificate is believed without the operator: after its time, or by the one before. */
  | OfPerson<'key-taken', { from: string | null; to: string; by: 'after' | 'continuity' }>
  /** An authority, by name, certifies a certificate; a certifier, by fingerprint, revoked that. */
  | OfPerson<'authority-verified' | 'certification-revoked', { fingerprint: string; by: string }>
  /** The service lists no certificate for a person any more. */
  | OfPerson<'key-withdrawn', { from: string; standing: string }>
  /** Several people are listed with one certificate. */
  | {
      kind: 'certificate-shared'
      detail: { fingerprint: string; people: number[]; owner: number | null }
    }
  /** A known certificate was revoked by its owner. */
  | OfPerson<'key-revoked', { fingerprint: string }>
  /** A listed certificate lacks the subkey of ML-KEM that it had; its earlier copy is sealed to. */
  | OfPerson<'subkey-stripped', { fingerprint: string; subkey: string }>
  /** The recipients of a chat changed. */
  | OfChat<
      'recipients-changed',
      Record<'added' | 'removed' | 'changed', number[]> & { count: number }
    >
  /** A key list contradicts itself; `stranger`: an additional person in a private chat. */
  | OfChat<'list-contradicts', { why: string; stranger?: number }>
  /** The key list of a chat lost half of its people or more within a day. */
  | OfChat<'list-shrank', { from: number; to: number }>
  /** People are listed with a key of the bot's own. */
  | OfPerson<'own-key-listed', { chatId: number | null; people: number[] }>
  /** Somebody wrote or pressed in the private chat of another person. */
  | (OfChat<'stranger', Empty> & { userId: number })
  /** Decisions of the operator. */
  | OfPerson<
      'accepted' | 'verified',
      { fingerprint: string; comparedWith?: string; listedBy?: string }
    >
  /** The safety number of a person's certificate and the bot's was compared, and is another. */
  | OfPerson<'number-differs', { fingerprint: string; comparedWith: string }>
  | OfPerson<'blocked', Empty>
  /** The content of these entries was erased; `person` is a keyed hash. */
  | { kind: 'person-forgotten'; detail: { person: string; entries: number[] } }
  | { kind: 'policy'; chatId: number | null; detail: { policy: string | null } }
  /** The service reports a stricter kind of a chat; the operator corrects the kind. */
  | OfChat<'kind-tightened' | 'kind-corrected', { from: string; to: string }>
  /** The operator loosens a chat, or all private chats. */
  | OfChat<'latch-lifted', Empty>
  | { kind: 'private-readable'; chatId: null; detail: Empty }
  | (OfChat<'person-bound', { before: number | null }> & { userId: number })
  /** The operator lets words leave readable that were given for sealed eyes. */
  | OfChat<'outbox-readable', { id: string }>
  /** A person's word on a call of the outbox, or of the operator (null). Never any words. */
  | (OfChat<
      'approval-asked' | 'approval-given' | 'approval-refused' | 'approval-ignored',
      { entry: string; digest: string; by?: number[]; fingerprint?: string | null; why?: string }
    > & { userId: number | null })
  /** The operator changes a client of the door; one was refused, noted once an hour. */
  | {
      kind: `client-${'added' | 'rotated' | 'removed' | 'suspended' | 'confirmed'}`
      detail: { client: string }
    }
  /** A call of the outbox is refused since its client may not make it any more. */
  | OfChat<'client-call-refused', { client: string; entry: string }>
  | {
      kind: 'client-refused'
      chatId: number | null
      detail: { client: string; lacks: string; call: string }
    }

/** Changes that are no decision of the operator: others can make any number of them. */
const FINDINGS: ReadonlySet<TrustChange['kind']> = new Set([
  'key-changed',
  'key-taken',
  'authority-verified',
  'certification-revoked',
  'subkey-stripped',
  'key-withdrawn',
  'certificate-shared',
  'key-revoked',
  'recipients-changed',
  'list-contradicts',
  'list-shrank',
  'own-key-listed',
  'stranger',
  'kind-tightened',
  'approval-asked',
  'approval-ignored',
  'client-refused',
  'client-call-refused',
])
export const isDecision = ({ kind }: Pick<TrustChange, 'kind'>): boolean => !FINDINGS.has(kind)

/** Changes of one kind of a person that have entries of their own; more are summed up. */
const SINGLY = 8
/** People of whom repeated changes are summed up at once. */
const SUMMED = 10_000

const repeatOf = (change: TrustChange): string =>
  `${change.kind} ${'userId' in change ? change.userId : ''}`

const entryOf = (change: TrustChange) => {
  const { kind, detail } = change
  const userId = 'userId' in change ? change.userId : null
  const chatId = 'chatId' in change ? change.chatId : null
  return { kind, userId, chatId, detail, isDecision: isDecision(change) }
}

/** The append-only record of changes; only the oldest entries are deleted. */
export class Journal {
  readonly #memory: Memory
  readonly #changes = new Listeners<TrustChange>()
  /** Calls back with every change once it is on disk. */
  readonly onChange = this.#changes.add
  /** Changes of people since the last `settle`, by kind and person. */
  readonly #repeats = new Map<string, { times: number; last: TrustChange }>()

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /**
   * Records changes in one transaction with their effect. Without changes, a `note` suffices.
   * @param change the effect, first in the transaction; its result, by the store as it is then,
   *   replaces `changes`
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

  /** Records changes within a write. @returns calls the listeners; for after the write */
  async append(
    { journal }: Pick<Records, 'journal'>,
    changes: readonly TrustChange[],
  ): Promise<() => void> {
    for (const one of changes) {
      if ((this.#repeats.get(repeatOf(one))?.times ?? 0) >= SINGLY) continue
      await journal.append(entryOf(one))
    }
    return () => {
      for (const one of changes) {
        this.#count(one)
        this.#changes.emit(one)
      }
    }
  }

  #count(change: TrustChange): void {
    const key = repeatOf(change)
    const times = (this.#repeats.get(key)?.times ?? 0) + 1
    const isSummed = !isDecision(change) && entryOf(change).userId !== null
    const hasRoom = times > 1 || this.#repeats.size < SUMMED
    if (isSummed && hasRoom) this.#repeats.set(key, { times, last: change })
  }

  /**
   * Records how often repeated changes of a person happened, and the last of each; call it now and
   * then. @throws Refusal `postern_store_unwritable`
   */
  async settle(): Promise<void> {
    const summed = [...this.#repeats.values()].filter(({ times }) => times > SINGLY)
    this.#repeats.clear()
    if (summed.length === 0) return
    await this.#memory.write(async ({ journal }) => {
      for (const { times, last } of summed) {
        const entry = entryOf(last)
        await journal.append({ ...entry, detail: { ...entry.detail, times: times - SINGLY } })
      }
    })
  }

  /** As `JournalRecords.read`. */
  async read(from: Parameters<JournalRecords['read']>[0]): Promise<JournalEntry[]> {
    return await this.#memory.read(({ journal }) => journal.read(from))
  }
}
