import { createHmac } from 'node:crypto'
import type { Transaction } from 'kysely'
import { memoryGaps, type Gap } from '../store/restored.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'

/** How long encrypted data and signatures are remembered, in ms. */
export const SEEN_FOR_MS = 30 * 86_400_000
const SECRET = 'seen'

/** A message or an attachment as what was opened claims to be. */
export interface Sighting {
  chatId: number
  /** Null for a quotation that names no message, and for what we sealed, not numbered yet. */
  messageId: number | null
  /** Of an attachment, whichever message it came with; absent for a message. */
  mediaId?: string
  userId: number | null
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  /** Digest of the statement that was verified, hex; null when nothing was. */
  signatureDigest: string | null
}

/** Asked within a batch's one transaction, in the order of its messages. */
export interface SeenCheck {
  /**
   * Whether the data was seen as another message or attachment, or a signature elsewhere, from
   * another, or on the other kind of thing.
   * @param signatureDigests of all statements that it claims to carry, hex
   */
  isReplay(sighting: Thing, signatureDigests: readonly string[]): Promise<boolean>
  /** Remembers it as delivered. */
  remember(sighting: Sighting): Promise<void>
}

/** What was opened before, under keyed hashes: the memory against replays (DESIGN: Opening). */
export class Seen {
  readonly #store: Store
  readonly #key: Buffer
  readonly #gaps: readonly Gap[]

  private constructor(store: Store, key: Buffer, gaps: readonly Gap[]) {
    this.#store = store
    this.#key = key
    this.#gaps = gaps
  }

  /** @throws Refusal `postern_locked` when the store has no protection */
  static async load(store: Store): Promise<Seen> {
    return new Seen(store, await store.secret(SECRET), await memoryGaps(store))
  }

  /** Whether a signature of this date would be remembered if it had been seen. */
  reaches(createdMs: number): boolean {
    if (createdMs < Date.now() - SEEN_FOR_MS) return false
    return !this.#gaps.some(({ fromMs, toMs }) => createdMs >= fromMs && createdMs <= toMs)
  }

  /**
   * Runs one batch against the memory; what it remembers is on disk when this resolves.
   * @throws Refusal `postern_store_unwritable`, with nothing remembered
   */
  async batch<T>(judge: (check: SeenCheck) => Promise<T>): Promise<T> {
    return await this.#store.note(async (db) =>
      judge({
        isReplay: (sighting, claims) => this.#isReplay(db, sighting, claims),
        remember: (sighting) => this.#remember(db, sighting),
      }),
    )
  }

  /**
   * Forgets what is older than the memory reaches. To be asked only while our clock is right: one
   * that has jumped ahead would forget everything.
   */
  async prune(): Promise<void> {
    const before = Date.now() - SEEN_FOR_MS
    await this.#store.note((db) => db.deleteFrom('seen').where('seen_at', '<', before).execute())
  }

  async #isReplay(
    db: Transaction<Schema>,
    sighting: Thing,
    claims: readonly string[],
  ): Promise<boolean> {
    const data = this.#keyed('data', sighting.dataDigest)
    const signatures = [...new Set(claims)].map((claim) => this.#keyed('signature', claim))
    const found = await db
      .selectFrom('seen')
      .select(['digest', 'chat_id', 'message_id', 'media_id', 'user_id'])
      .where('digest', 'in', [data, ...signatures])
      .execute()
    return found.some((place) =>
      data.equals(place.digest) ? !isSameThing(place, sighting) : !isSamePlace(place, sighting),
    )
  }

  async #remember(db: Transaction<Schema>, sighting: Sighting): Promise<void> {
    const { chatId, messageId, userId, dataDigest, signatureDigest } = sighting
    const rows = [{ kind: 'data' as 'data' | 'signature', digest: dataDigest }]
    if (signatureDigest !== null) rows.push({ kind: 'signature', digest: signatureDigest })
    await db
      .insertInto('seen')
      .values(
        rows.map(({ kind, digest }) => ({
          kind,
          digest: this.#keyed(kind, digest),
          chat_id: chatId,
          message_id: messageId,
          media_id: sighting.mediaId ?? null,
          user_id: userId,
          seen_at: Date.now(),
        })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  #keyed(kind: string, digest: string): Buffer {
    return createHmac('sha256', this.#key).update(`${kind}:${digest}`).digest()
  }
}

type Thing = Omit<Sighting, 'signatureDigest'>

interface Place {
  chat_id: number
  message_id: number | null
  media_id: string | null
  user_id: number | null
}

/** One person may sign the same words, or the same file, twice within a second. */
function isSamePlace(place: Place, { chatId, userId, mediaId }: Thing): boolean {
  const isSameKind = (place.media_id === null) === (mediaId === undefined)
  return isSameKind && place.chat_id === chatId && place.user_id === userId
}

function isSameThing(place: Place, sighting: Thing): boolean {
  const { mediaId, messageId } = sighting
  if (!isSamePlace(place, sighting)) return false
  if (mediaId !== undefined) return place.media_id === mediaId
  return place.message_id === null || place.message_id === messageId
}
