/** Tables of the clients of the bot's door, of the consumers of updates and of the outbox; part of `schema.ts`. */
import type { Generated } from 'kysely'
import type { WithMac } from './journal-tables.ts'

export interface ClientTables {
  /** Clients of the bot's door that were added by command (`clients/clients.ts`). */
  clients: WithMac & {
    name: string
    /** As in `Client`. */
    credential: string
    /** JSON of `ClientScope`. */
    allows: string
    created_at: number
  }

  /** When a client may send next, so that one rate counts for all sidecars and over a restart. */
  client_rates: WithMac & { name: string; next_at: number }

  /** Which updates a consumer has (`updates/cursors.ts`); the bot is the one without a name. */
  cursors: {
    name: string
    /** The last one that it has; null: none. */
    update_id: number | null
    mark: string | null
    /** How many updates it was given up to there. */
    given: number
    /** Those that a client was shown after them: ids and marks, in order. */
    shown: Generated<string | null>
  }

  /** Sends and edits that are made later (`outbox/`); their words are `secrets` named `outbox/<id>`. */
  outbox: WithMac & {
    number: Generated<number>
    id: string
    state: 'asked' | 'waiting' | 'sent' | 'refused' | 'held'
    chat_id: number
    /** The message that is edited; null: a send. */
    message_id: string | null
    /** 0 or 1: it was given for a chat of sealed words, or of an unknown mode. */
    is_for_sealed: number
    client: string | null
    /** As in `Client`; null: the bot's, or one of before. */
    credential: string | null
    created_at: number
    due_at: number
    bytes: number
    /** Why it was refused or is held. */
    code: string | null
    sent_id: number | null
    settled_at: number | null
    /** 0 or 1: the bot has heard how it was settled. */
    heard: Generated<number>
    /** The state of its call, as in `OutboxEntry`. */
    call: Generated<'none' | 'answered' | 'open'>
    /** JSON of `Approval`; null: no person's word is needed. */
    approval: string | null
  }
}
