/**
 * What a decision asks beside `Memory`: the time, and answers of the service. They are handed in; who
 * hands them in fetches, bounds and caches, and passes each answer through the kernel first.
 */
import type { ChatMode } from '../api/chat.ts'
import type { Person } from './people/person.ts'

/** The two clocks of a machine, ms. */
export interface Time {
  /** Since the epoch; somebody may set it. */
  nowMs(): number
  /** Since any moment; nobody sets it. Freshness is measured with it. */
  monotonicMs(): number
}

/** The time that words, signatures and certificates are judged by, in ms since the epoch. */
export interface JudgingClock {
  /** By which the age of words is counted: our clock, or the service's where the two disagree. */
  nowMs(): number
  /** By which ends are counted: `nowMs`, and never before a time that both clocks agreed on. */
  expiryNowMs(): number
  /** Whether `nowMs` is our clock: it agrees with the service's, or that is not known. */
  isOurs(): boolean
  /** Whether the service's time is known, and ours is the same within two minutes. */
  agree(): boolean
  /** False while neither clock can be right: nothing can be judged. */
  isKnown(): boolean
}

/** The answer of `GET /chats/{chatId}/keys`, judged. */
export interface KeyList {
  people: Person[]
  /** How many records name nobody. */
  nameless: number
  memberCount: number | undefined
  /** When the first of the certificates that can be sealed to ends, ms since the epoch. */
  lapsesAtMs: number
  /** How many keys there are, when no message fits so many. None is judged then. Else null. */
  tooMany: number | null
}

/**
 * Other people's certificates. `sinceMs` is by `Time.monotonicMs`: an answer that was asked for then or
 * later. Both calls throw ServiceError, NoResponseError and Refusal `postern_store_unwritable`.
 */
export interface KeyLookups {
  keyList(chatId: number, sinceMs: number): Promise<KeyList>
  /**
   * Whose certificate speaks for a person in a chat: the chat's list first, then the person's own
   * record. Null when the service knows none. Without `sinceMs`, ten minutes may be old.
   */
  signer(userId: number, chatId: number, sinceMs?: number): Promise<Person | null>
  /** Whether to ask afresh for a signer: not on and on for somebody whose key does not fit. */
  mayAskAgain(userId: number, chatId: number): boolean
  /** Asking afresh did not help. */
  askedInVain(userId: number, chatId: number): void
  /** Whether any revocation of a certificate, or of a part of it, is known. */
  isRevoked(fingerprint: string): boolean
  /** A certificate that was listed before, armored; null where none is kept, or it is revoked. */
  formerCertificate(fingerprint: string): Promise<string | null>
}

/** A chat's mode as the service reports it, as far as the guard needs it. */
export interface ModeAnswer {
  mode: ChatMode
  /** Its kind by this answer, or a stricter one that was seen before. */
  kind: string
  historyVisible: boolean
}

/** Modes of chats as the service reports them. */
export interface ModeLookups {
  /**
   * The mode by an answer that was asked for at `sinceMs` or later.
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  get(chatId: number, sinceMs: number): Promise<ModeAnswer>
}
