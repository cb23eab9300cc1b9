import type { Store } from '../store/store.ts'
import type { Journal } from './journal.ts'

/** What a changed certificate of a person does (setting `trust.policy`). */
export const TRUST_POLICIES = ['accept', 'first-use', 'pinned'] as const
export type TrustPolicy = (typeof TRUST_POLICIES)[number]

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
    store: Store
    journal: Journal
    setting: TrustPolicy
  }): Promise<Policies> {
    const policies = new Policies(o.journal, o.setting)
    o.store.follow('trust_policies', async (db, keys) => {
      const ids = keys.map(Number)
      const rows = await db
        .selectFrom('trust_policies')
        .selectAll()
        .where('chat_id', 'in', ids)
        .execute()
      for (const id of ids) policies.#byCommand.delete(id)
      for (const row of rows) policies.#byCommand.set(row.chat_id, row.policy)
      policies.changes++
    })
    const rows = await o.store.read((db) => db.selectFrom('trust_policies').selectAll().execute())
    for (const row of rows) policies.#byCommand.set(row.chat_id, row.policy)
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
    await this.#journal.record([{ kind: 'policy', chatId, detail: { policy } }], async (db) => {
      await db.deleteFrom('trust_policies').where('chat_id', '=', id).execute()
      if (policy === null) return
      await db.insertInto('trust_policies').values({ chat_id: id, policy }).execute()
    })
    this.changes++
    if (policy === null) this.#byCommand.delete(id)
    else this.#byCommand.set(id, policy)
  }
}
