/** The one entry for answers of the service: each is observed here before its content is used. */
import type { Chat } from '../api/chat.ts'
import type { UserKey } from '../api/user-key.ts'
import { NoResponseError, TooManyChatsError, isOwnFailure } from '../errors.ts'
import type { KeyList, ModeAnswer } from './lookups.ts'
import type { KeyListAnswer, PeopleObserver } from './people/observe.ts'
import type { Person } from './people/person.ts'
import { findMessages, sightingsIn } from './opening/find-messages.ts'
import type { FoundMessage, MessagesOfUpdate } from './opening/find-messages.ts'
import { contentOf, type Unseen } from './unseen.ts'
import type { Freshness } from './wall/grounds.ts'
import type { KnownChats } from './wall/known-chats.ts'

/** Readers by the contract of the service; null: it is no such answer. */
export interface Readers {
  chat(content: unknown): Chat | null
  keyList(content: unknown): KeyListAnswer | null
  /** Null: a record that names nobody. */
  userKey(content: unknown): UserKey | null
  /** Oldest first, with growing ids. @throws NoResponseError `postern_upstream_invalid` */
  updates(content: unknown): UpdateHead[]
}

export interface SeenChat extends ModeAnswer {
  result: unknown
}

/** Of an update that was not observed yet: its place in the queue. Lists are oldest first. */
export interface UpdateHead {
  readonly updateId: number
  readonly kind: string
}

export interface SeenUpdates {
  updates: readonly unknown[]
  found: readonly MessagesOfUpdate[]
  /** How many updates, from the first on, are recorded. */
  recorded: number
  /** The failure of our own that left the others unrecorded. */
  failure?: unknown
}

/** The content of an answer without a chat or a person: `/me`, a webhook, a sent message. */
export const unobserved = (answer: Unseen): unknown => contentOf(answer)

/** All calls that wait throw Refusal `postern_store_unwritable`. */
export class Sightings {
  readonly #parts: { knownChats: KnownChats; people: PeopleObserver; readers: Readers }

  constructor(parts: { knownChats: KnownChats; people: PeopleObserver; readers: Readers }) {
    this.#parts = parts
  }

  /** A result of `GET /chats/{chatId}`. @throws NoResponseError `postern_upstream_invalid` for another */
  async sawChat(answer: Unseen, chatId: number): Promise<SeenChat> {
    const result = contentOf(answer)
    const chat = this.#parts.readers.chat(result)
    if (chat === null || chat.id !== chatId) {
      throw new NoResponseError('postern_upstream_invalid', 'a chat')
    }
    const { kind, mode, historyVisible } = chat
    await this.#parts.knownChats.saw([{ chatId, kind, isProtected: mode !== 'open' }])
    const judgedAs = this.#parts.knownChats.get(chatId)?.kind ?? kind
    return { kind: judgedAs, mode, historyVisible: historyVisible === true, result }
  }

  /** The service refused readable text in a chat. */
  async sawProtected(chatId: number): Promise<void> {
    await this.#parts.knownChats.saw([{ chatId, isProtected: true }])
  }

  /** A result of `GET /chats/{chatId}/keys`. @throws as `sawChat` */
  async sawKeyList(answer: Unseen, chatId: number): Promise<KeyList> {
    const listed = this.#parts.readers.keyList(contentOf(answer))
    if (listed === null) throw new NoResponseError('postern_upstream_invalid', 'a key list')
    return await this.#parts.people.observeKeyList(chatId, listed)
  }

  /** A result of `GET /users/{userId}/key`, null without a key; as `PeopleObserver.observeUserKey`. */
  async sawUserKey(answer: Unseen | null, userId: number): Promise<Person | null> {
    const record = answer && { record: this.#parts.readers.userKey(contentOf(answer)) }
    return await this.#parts.people.observeUserKey(userId, record)
  }

  /** A result of `GET /updates`. @throws NoResponseError `postern_upstream_invalid` */
  readUpdates(answer: Unseen): readonly UpdateHead[] {
    return this.#parts.readers.updates(contentOf(answer))
  }

  /**
   * Records what updates show of chats; a notice reaches the other sidecars.
   * @param o `most`: how many are read; `freshness` of the decision
   */
  async sawUpdates(
    heads: readonly UpdateHead[],
    { most, freshness, botId }: { most: number; freshness: Freshness; botId: number | null },
  ): Promise<SeenUpdates> {
    const knownChats = this.#parts.knownChats
    const updates = heads.slice(0, most)
    const found = updates.map(findMessages)
    const sightings = found.map(({ messages }) =>
      messages.flatMap((one) => sightingsIn(one, botId)),
    )
    const notices = found.map(({ messages }) => messages.flatMap(noticeIn))
    try {
      // the person of a private chat counts where its kind is known
      const kindsFirst = sightings
        .flat()
        .sort((a, b) => Number('userId' in a) - Number('userId' in b))
      await knownChats.saw(kindsFirst, () => freshness.renew()).catch(unlessTooMany)
      await knownChats.sawNotices([...new Set(notices.flat())])
      return { updates, found, recorded: found.length }
    } catch (failure) {
      if (!isOwnFailure(failure)) throw failure
      // after the failure only the store knows which sightings are recorded
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

/** A chat beyond those that are remembered counts as unknown. */
function unlessTooMany(error: unknown): void {
  if (!(error instanceof TooManyChatsError)) throw error
}
