/**
 * The time and the answers of the service, which decisions ask for beside `Memory`. The implementation
 * fetches, bounds and caches, and has the kernel observe each answer first.
 */
import type { ChatMode } from '../api/chat.ts'
import type { Person } from './people/person.ts'

export type { Time } from './clocks.ts'

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
 * Other people's certificates. `sinceMs`, by `Time.monotonicMs`: how old an answer may be. Lookups
 * throw ServiceError, NoResponseError and Refusal `postern_store_unwritable`.
 */
export interface KeyLookups {
  keyList(chatId: number, sinceMs: number): Promise<KeyList>
  /**
   * The certificate of a person in a chat: by the chat's list, else by the person's own record. Null
   * when the service knows none. Without `sinceMs`, ten minutes may be old.
   */
  signer(userId: number, chatId: number, sinceMs?: number): Promise<Person | null>
  /** Whether to ask afresh for a signer; bounded for somebody whose key does not fit. */
  mayAskAgain(userId: number, chatId: number): boolean
  /** The fresh answer did not help. */
  askedInVain(userId: number, chatId: number): void
}

/** A chat's mode as the service reports it, as far as the guard needs it. */
export interface ModeAnswer {
  mode: ChatMode
  /** Its kind by this answer, or a stricter one that was seen before. */
  kind: string
  historyVisible: boolean
}

export interface ModeLookups {
  /** @param sinceMs as in `KeyLookups`, @throws as there */
  get(chatId: number, sinceMs: number): Promise<ModeAnswer>
}
