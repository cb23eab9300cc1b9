/** What the memory against replays is asked, and what it answers. */

/** A message or an attachment as what was opened claims to be. */
export interface Sighting {
  chatId: number
  /**
   * The update that brought it as its own Message; null for what another Message carries, for an
   * attachment, and for what we sealed.
   */
  updateId: number | null
  /** Null for a quotation that names no message, and for what we sealed, not numbered yet. */
  messageId: number | null
  /** Of an attachment, whichever message it came with; absent for a message. */
  mediaId?: string
  userId: number | null
  /** When the Message says that it was written, ms since the epoch; null for an attachment. */
  dateMs: number | null
  /** SHA-256 of the de-framed encrypted data, hex. */
  dataDigest: string
  /** Digest of the statement that was verified, hex; null when nothing was. */
  signatureDigest: string | null
}

/**
 * `again`: the same was seen before, and is asked for again or quoted. `replayed`: its data or a
 * signature of it was seen as something else. `confirmed`: its update is known and was confirmed.
 * `new`: none of these.
 */
export type Recognition = Rememberable | 'replayed' | 'confirmed'
export type Rememberable = 'new' | 'again'

/** Used within a batch's one transaction, in the order of its messages. */
export interface ReplayCheck {
  /** @param signatureDigests of all statements that it claims to carry, hex */
  recognize(sighting: Thing, signatureDigests: readonly string[]): Promise<Recognition>
  /** Remembers it as delivered. @param as the answer of `recognize` */
  remember(sighting: Sighting, as: Rememberable): Promise<void>
}

/** What is asked about: a signature belongs to it once it was verified. */
export type Thing = Omit<Sighting, 'signatureDigest'>
