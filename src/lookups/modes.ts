import { Chat, isProtected } from '../api/chat.ts'
import { NoResponseError } from '../errors.ts'
import { FreshCache, type Lookups } from '../util/caches.ts'
import { monotonicNow } from '../util/clock.ts'
import type { ModeAnswer, ModeLookups } from '../kernel/lookups.ts'
import type { KnownChats } from '../kernel/wall/known-chats.ts'

const CHATS = 20_000

/** Modes of chats as the service reports them, cached; what tightens is remembered for good. */
export class Modes implements ModeLookups {
  readonly #answers: FreshCache<ModeAnswer>
  readonly #knownChats: KnownChats
  readonly #chat: (chatId: number) => Promise<unknown>

  /** @param parts `chat` makes the call `GET /chats/{chatId}` and gives its result */
  constructor(parts: { knownChats: KnownChats; chat: (chatId: number) => Promise<unknown> }) {
    this.#knownChats = parts.knownChats
    this.#chat = parts.chat
    this.#answers = new FreshCache({
      max: CHATS,
      fetch: async (chatId) => await this.#read(chatId, await parts.chat(chatId)),
    })
  }

  /**
   * The mode by an answer that was asked for at `sinceMs` or later.
   * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
   */
  async get(chatId: number, sinceMs: number): Promise<ModeAnswer> {
    return await this.#answers.get(chatId, sinceMs)
  }

  /** The same without a call: undefined when nothing so fresh is known. */
  peek(chatId: number, sinceMs: number): ModeAnswer | undefined {
    return this.#answers.peek(chatId, sinceMs)
  }

  /**
   * Uses a result of `GET /chats/{chatId}` that somebody else asked for at `askedAtMs`.
   * @throws NoResponseError, Refusal `postern_store_unwritable`
   */
  async observe(chatId: number, result: unknown, askedAtMs: number): Promise<ModeAnswer> {
    const answer = await this.#read(chatId, result)
    this.#answers.set(chatId, answer, askedAtMs)
    return answer
  }

  /**
   * The result of a `GET /chats/{chatId}` made now, once what it shows of the chat is recorded.
   * @throws as `get` does
   */
  async ask(chatId: number): Promise<unknown> {
    const askedAtMs = monotonicNow()
    const result = await this.#chat(chatId)
    await this.observe(chatId, result, askedAtMs)
    return result
  }

  /** How often a mode was known, and how often asked for. */
  get lookups(): Lookups {
    return this.#answers.lookups
  }

  forget(chatId: number): void {
    this.#answers.forget(chatId)
  }

  async #read(chatId: number, result: unknown): Promise<ModeAnswer> {
    const chat = Chat.safeParse(result)
    if (!chat.success || chat.data.id !== chatId) {
      throw new NoResponseError('postern_upstream_invalid', 'a chat')
    }
    const { kind, mode, historyVisible } = chat.data
    await this.#knownChats.saw([{ chatId, kind, isProtected: isProtected(chat.data) }])
    const judgedAs = this.#knownChats.get(chatId)?.kind ?? kind
    return { kind: judgedAs, mode, historyVisible: historyVisible === true }
  }
}
