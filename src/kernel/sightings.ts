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
import {
  findMessages,
  sightingsIn,
  type FoundMessage,
  type MessagesOfUpdate,
} from './opening/find-messages.ts'
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
  updates(content: unknown): UpdateHead[]
}

/** A chat as an answer describes it, once that is recorded. */
export interface SeenChat extends ModeAnswer {
  /** The whole result. */
  result: unknown
}

/** What is read of an update before it is observed: its place in the queue. */
export interface UpdateHead {
  readonly updateId: number
  readonly kind: string
}

/** Updates of an answer, oldest first, of which nothing was recorded yet. */
export class UnseenUpdates {
  readonly heads: readonly UpdateHead[]

  constructor(updates: readonly UpdateHead[]) {
    this.heads = updates
  }

  /** Those from an index on. */
  from(index: number): UnseenUpdates {
    return new UnseenUpdates(this.heads.slice(index))
  }
}

/** Updates with the Messages in each, once what they show is recorded. */
export interface SeenUpdates {
  updates: readonly unknown[]
  found: readonly MessagesOfUpdate[]
  /** How many updates, from the first on, show nothing that could not be recorded. */
  recorded: number
  /** Why not all of them are; a failure of our own. */
  failure?: unknown
}

/**
 * The content of an answer that holds neither a chat nor a person: `/me`, a webhook, a message that
 * was sent.
 */
export const unobserved = (answer: Unseen): unknown => contentOf(answer)

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

  /**
   * A result of `GET /updates`, of which nothing but its place in the queue can be used yet.
   * @throws NoResponseError `postern_upstream_invalid`
   */
  readUpdates(answer: Unseen): UnseenUpdates {
    return new UnseenUpdates(this.#readers.updates(contentOf(answer)))
  }

  /**
   * Records what updates show of chats: kinds and people stick, a notice reaches other sidecars.
   * @param o `most` so many are read; `freshness` of the decision that this is for
   */
  async sawUpdates(
    { heads }: UnseenUpdates,
    { most, freshness, botId }: { most: number; freshness: Freshness; botId: number | null },
  ): Promise<SeenUpdates> {
    const knownChats = this.#knownChats
    const updates = heads.slice(0, most)
    const found = updates.map(findMessages)
    const sightings = found.map(({ messages }) =>
      messages.flatMap((one) => sightingsIn(one, botId)),
    )
    const notices = found.map(({ messages }) => messages.flatMap(noticeIn))
    try {
      // whose a private chat is counts where its kind is known
      const kindsFirst = sightings
        .flat()
        .sort((a, b) => Number('userId' in a) - Number('userId' in b))
      await knownChats.saw(kindsFirst, () => freshness.renew()).catch(unlessTooMany)
      await knownChats.sawNotices([...new Set(notices.flat())])
      return { updates, found, recorded: found.length }
    } catch (failure) {
      if (!isOwnFailure(failure)) throw failure
      // what is recorded already is known for certain only by what any sidecar has learned
      const unreachable: unknown = await freshness.renew().catch((error: unknown) => error)
      if (unreachable !== undefined) return { updates, found, recorded: 0, failure: unreachable }
      const isLeft = (at: number): boolean =>
        notices[at]?.length !== 0 ||
        sightings[at]?.some(({ chatId }) => knownChats.isUnwritten(chatId)) === true
      const recorded = [...found.keys()].findIndex(isLeft)
      return { updates, found, recorded: Math.max(0, recorded), failure }
    }
  }
}

const noticeIn = ({ isOrdinary, chatId }: FoundMessage): number[] =>
  isOrdinary || chatId === null ? [] : [chatId]

/** Chats beyond those that are remembered are judged as unknown. */
function unlessTooMany(error: unknown): void {
  if (!(error instanceof TooManyChatsError)) throw error
}
