import type { Memory, TrustPolicy } from '../memory.ts'
import type { Journal } from './journal.ts'

/** The row of the whole bot; no chat has this id. */
const BOT = 0

/** The policy of the bot and of single chats, changeable while the sidecar runs. */
export class Policies {
  readonly #journal: Journal
  readonly #setting: TrustPolicy
  readonly #byCommand = new Map<number, TrustPolicy>()
  /** How often a policy was changed since the start. */
  changes = 0

  private constructor(journal: Journal, setting: TrustPolicy) {
    this.#journal = journal
    this.#setting = setting
  }

  static async load(o: {
    memory: Memory
    journal: Journal
    setting: TrustPolicy
  }): Promise<Policies> {
    const policies = new Policies(o.journal, o.setting)
    const { memory } = o
    memory.follow('trust_policies', async (records, keys) => {
      const ids = keys.map(Number)
      const set = await records.policies.of(ids)
      for (const id of ids) policies.#byCommand.delete(id)
      for (const { chatId, policy } of set) policies.#byCommand.set(chatId, policy)
      policies.changes++
    })
    const set = await memory.read((records) => records.policies.all())
    for (const { chatId, policy } of set) policies.#byCommand.set(chatId, policy)
    return policies
  }

  /** The policy that counts in a chat: its own, else the bot's. */
  for(chatId: number): TrustPolicy {
    return this.#byCommand.get(chatId) ?? this.bot
  }

  /** The bot's: what the operator set by command, else the setting. */
  get bot(): TrustPolicy {
    return this.#byCommand.get(BOT) ?? this.#setting
  }

  /** What was set by command, chat by chat; the bot itself has no chat. */
  get byCommand(): { chatId: number | null; policy: TrustPolicy }[] {
    return [...this.#byCommand].map(([id, policy]) => ({ chatId: id === BOT ? null : id, policy }))
  }

  /**
   * Sets the policy of a chat, or of the bot.
   * @param chatId null for the bot, @param policy null takes back what was set before
   * @throws Refusal `postern_store_unwritable`
   */
  async set(chatId: number | null, policy: TrustPolicy | null): Promise<void> {
    const id = chatId ?? BOT
    const change = { kind: 'policy' as const, chatId, detail: { policy } }
    await this.#journal.record([change], ({ policies }) => policies.set(id, policy))
    this.changes++
    if (policy === null) this.#byCommand.delete(id)
    else this.#byCommand.set(id, policy)
  }
}
