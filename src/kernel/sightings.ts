/**
 * The one entry for what is read from the service: each answer passes here before its content is
 * used, and what it shows of chats and people is recorded on the way (DESIGN: The guard, Sealing).
 */
import type { Chat } from '../api/chat.ts'
import type { UserKey } from '../api/user-key.ts'
import { NoResponseError, TooManyChatsError, isOwnFailure } from '../errors.ts'
import type { KeyList, ModeAnswer } from './lookups.ts'
import type { KeyListAnswer, PeopleObserver } from './people/observe.ts'
import type { Person } from './people/person.ts'
import { findMessages, sightingsIn, type FoundMessage } from './opening/find-messages.ts'
import { contentOf, type Unseen } from './unseen.ts'
import type { Freshness } from './wall/freshness.ts'
import type { KnownChats } from './wall/known-chats.ts'

/** How answers are read by the contract of the service; null: it is no such answer. */
export interface Readers {
  chat(content: unknown): Chat | null
  keyList(content: unknown): KeyListAnswer | null
  /** Null: a record that names nobody. */
  userKey(content: unknown): UserKey | null
  /** Oldest first, with growing ids. @throws NoResponseError `postern_upstream_invalid` */
  updates(content: unknown): SeenUpdate[]
}

/** A chat as an answer describes it, once that is recorded. */
export interface SeenChat extends ModeAnswer {
  /** The whole result. */
  result: unknown
}

/** An update as it was parsed. */
export interface SeenUpdate {
  updateId: number
  [name: string]: unknown
}

/** Updates of which everything is found that is judged; what they show is recorded by `record`. */
export class SeenUpdates {
  readonly updates: readonly SeenUpdate[]
  /** The Messages in each update. */
  readonly found: readonly ReturnType<typeof findMessages>[]

  constructor(updates: readonly SeenUpdate[]) {
    this.updates = updates
    this.found = updates.map(findMessages)
  }
}

/**
 * Why an answer is read without being observed: it holds neither a chat nor a person (`/me`, a
 * webhook, a message that was sent), or the sidecar has no key, and passes everything on.
 */
export type WhyUnobserved = 'shows-no-chat' | 'has-no-key'

/** The content of an answer that is not observed. */
export const unobserved = (answer: Unseen, _why: WhyUnobserved): unknown => contentOf(answer)

export class Sightings {
  readonly #knownChats: KnownChats
  readonly #people: PeopleObserver
  readonly #readers: Readers

  constructor(parts: { knownChats: KnownChats; people: PeopleObserver; readers: Readers }) {
    this.#knownChats = parts.knownChats
    this.#people = parts.people
    this.#readers = parts.readers
  }

  /**
   * A result of `GET /chats/{chatId}`.
   * @throws NoResponseError `postern_upstream_invalid` when it is of no chat, or of another;
   *   Refusal `postern_store_unwritable`
   */
  async sawChat(answer: Unseen, chatId: number): Promise<SeenChat> {
    const result = contentOf(answer)
    const chat = this.#readers.chat(result)
    if (chat === null || chat.id !== chatId) {
      throw new NoResponseError('postern_upstream_invalid', 'a chat')
    }
    const { kind, mode, historyVisible } = chat
    await this.#knownChats.saw([{ chatId, kind, isProtected: mode !== 'open' }])
    const judgedAs = this.#knownChats.get(chatId)?.kind ?? kind
    return { kind: judgedAs, mode, historyVisible: historyVisible === true, result }
  }

  /** The service refused readable text in a chat. @throws Refusal `postern_store_unwritable` */
  async sawProtected(chatId: number): Promise<void> {
    await this.#knownChats.saw([{ chatId, isProtected: true }])
  }

  /**
   * A result of `GET /chats/{chatId}/keys`.
   * @throws NoResponseError, Refusal `postern_store_unwritable`
   */
  async sawKeyList(answer: Unseen, chatId: number): Promise<KeyList> {
    const listed = this.#readers.keyList(contentOf(answer))
    if (listed === null) throw new NoResponseError('postern_upstream_invalid', 'a key list')
    return await this.#people.observeKeyList(chatId, listed)
  }

  /**
   * A result of `GET /users/{userId}/key`; null: the service knows no key of the person.
   * @returns null where the record is not that person's
   * @throws Refusal `postern_store_unwritable`
   */
  async sawUserKey(answer: Unseen | null, userId: number): Promise<Person | null> {
    const record = answer === null ? null : { record: this.#readers.userKey(contentOf(answer)) }
    return await this.#people.observeUserKey(userId, record)
  }
}
