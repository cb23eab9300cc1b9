/** The consequence of a changed certificate, by setting and by command. */
import type { Memory, TrustPolicy, TrustStanding } from '../memory.ts'
import type { Journal } from './journal.ts'
import type { People } from './people.ts'

/** The row of the bot; no chat has this id. */
const BOT = 0

export interface PoliciesParts {
  memory: Memory
  journal: Journal
  /** Setting `trust.policy`. */
  setting: TrustPolicy
  epoch: People['epoch']
}

export class Policies {
  readonly #parts: PoliciesParts
  readonly #byCommand = new Map<number, TrustPolicy>()

  private constructor(parts: PoliciesParts) {
    this.#parts = parts
  }

  static async load(parts: PoliciesParts): Promise<Policies> {
    const policies = new Policies(parts)
    await parts.memory.keep('trust_policies', async (records, chatIds) => {
      const set = await records.policies.of(chatIds)
      for (const id of chatIds ?? []) policies.#byCommand.delete(Number(id))
      for (const { chatId, policy } of set) policies.#byCommand.set(chatId, policy)
      parts.epoch.value++
    })
    return policies
  }

  /** The policy that counts in a chat: its own, else the bot's. */
  for(chatId: number): TrustPolicy {
    return this.#byCommand.get(chatId) ?? this.bot
  }

  /** The bot's policy: by command, else by the setting. */
  get bot(): TrustPolicy {
    return this.#byCommand.get(BOT) ?? this.#parts.setting
  }

  /** Whether a changed certificate of somebody of this standing may be believed without the operator. */
  mayTake(standing: TrustStanding): boolean {
    const all = [this.bot, ...this.#byCommand.values()]
    const isDecided = standing === 'accepted' && all.includes('pinned')
    return all.includes('first-use') && ['seen', 'accepted'].includes(standing) && !isDecided
  }

  /** Policies that were set by command; `chatId` null: the bot's. */
  get byCommand(): { chatId: number | null; policy: TrustPolicy }[] {
    return [...this.#byCommand].map(([id, policy]) => ({ chatId: id === BOT ? null : id, policy }))
  }

  /**
   * Sets the policy of a chat, or of the bot.
   * @param chatId null for the bot, @param policy null deletes the one that was set
   * @throws Refusal `postern_store_unwritable`
   */
  async set(chatId: number | null, policy: TrustPolicy | null): Promise<void> {
    const id = chatId ?? BOT
    const change = { kind: 'policy' as const, chatId, detail: { policy } }
    await this.#parts.journal.record([change], ({ policies }) => policies.set(id, policy))
    this.#parts.epoch.value++
    if (policy === null) this.#byCommand.delete(id)
    else this.#byCommand.set(id, policy)
  }
}
