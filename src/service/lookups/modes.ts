import { FreshCache, type Lookups } from '../../util/caches.ts'
import { monotonicNow } from '../../util/clock.ts'
import type { ModeAnswer, ModeLookups, SeenChat, Sightings, Unseen } from '../../kernel/index.ts'

const CHATS = 20_000

interface ModesParts {
  sightings: Pick<Sightings, 'sawChat'>
  /** Makes the call `GET /chats/{chatId}` and gives its result. */
  chat: (chatId: number) => Promise<Unseen>
}

/** Modes of chats as the service reports them, cached; a stricter mode is remembered for good. */
export class Modes implements ModeLookups {
  readonly #answers: FreshCache<ModeAnswer>
  readonly #parts: ModesParts

  constructor(parts: ModesParts) {
    this.#parts = parts
    this.#answers = new FreshCache({
      max: CHATS,
      fetch: async (chatId) =>
        modeOf(await parts.sightings.sawChat(await parts.chat(chatId), chatId)),
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
  async observe(chatId: number, answer: Unseen, askedAtMs: number): Promise<SeenChat> {
    const seen = await this.#parts.sightings.sawChat(answer, chatId)
    this.#answers.set(chatId, modeOf(seen), askedAtMs)
    return seen
  }

  /**
   * The result of a `GET /chats/{chatId}` made now, once its facts about the chat are recorded.
   * @throws as `get` does
   */
  async ask(chatId: number): Promise<unknown> {
    const askedAtMs = monotonicNow()
    const { result } = await this.observe(chatId, await this.#parts.chat(chatId), askedAtMs)
    return result
  }

  /** How often a mode was known, and how often asked for. */
  get lookups(): Lookups {
    return this.#answers.lookups
  }

  forget(chatId: number): void {
    this.#answers.forget(chatId)
  }
}

/** The cached part of an answer. */
const modeOf = ({ mode, kind, historyVisible }: SeenChat): ModeAnswer => ({
  mode,
  kind,
  historyVisible,
})
