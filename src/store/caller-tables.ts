/** Tables of those who call and are called: clients, consumers, the outbox, the bot's webhook. */
export const CALLER_TABLES = {
  /** Clients of the bot's door that were added by command (`clients/clients.ts`). */
  clients: {
    name: 'TEXT PRIMARY KEY NOT NULL',
    /** As in `Client`. */
    credential: 'TEXT NOT NULL UNIQUE',
    /** JSON of `ClientScope`. */
    allows: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
    mac: 'BLOB',
  },

  /** When a client may send next, so that one rate counts for all sidecars and over a restart. */
  client_rates: { name: 'TEXT PRIMARY KEY NOT NULL', next_at: 'INTEGER NOT NULL', mac: 'BLOB' },

  /** Which updates a consumer has (`updates/cursors.ts`); the bot is the one without a name. */
  cursors: {
    name: 'TEXT NOT NULL PRIMARY KEY',
    /** The last one that it has; null: none. */
    update_id: 'INTEGER',
    mark: 'TEXT',
    /** How many updates it was given up to there. */
    given: 'INTEGER NOT NULL',
    /** Those that a client was shown after them: ids and marks, in order. */
    shown: 'TEXT NOT NULL',
  },

  /** Sends and edits that are made later (`outbox/`); their words are `secrets` named `outbox/<id>`. */
  outbox: {
    number: 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL',
    id: 'TEXT NOT NULL UNIQUE',
    state: `TEXT NOT NULL CHECK (state IN ('asked', 'waiting', 'sent', 'refused', 'held'))`,
    chat_id: 'INTEGER NOT NULL',
    /** The message that is edited; null: a send. */
    message_id: 'TEXT',
    /** 0 or 1: it was given for a chat of sealed words, or of an unknown mode. */
    is_for_sealed: 'INTEGER NOT NULL',
    client: 'TEXT',
    /** As in `Client`; null: the bot's. */
    credential: 'TEXT',
    created_at: 'INTEGER NOT NULL',
    due_at: 'INTEGER NOT NULL',
    bytes: 'INTEGER NOT NULL',
    /** Why it was refused or is held. */
    code: 'TEXT',
    sent_id: 'INTEGER',
    settled_at: 'INTEGER',
    /** 0 or 1: the bot has heard how it was settled. */
    heard: 'INTEGER NOT NULL',
    /** The state of its call, as in `OutboxEntry`. */
    call: `TEXT NOT NULL CHECK (call IN ('none', 'answered', 'open'))`,
    /** JSON of `Approval`; null: no person's word is needed. */
    approval: 'TEXT',
    mac: 'BLOB',
  },

  /**
   * The bot's own webhook: no row, or the one row with `id` 1. Its secret, when it has one, rests in
   * `secrets` under the name `webhook`.
   */
  webhook: {
    id: 'INTEGER PRIMARY KEY NOT NULL CHECK (id = 1)',
    /** As the bot gave it; null while none is set. */
    url: 'TEXT',
    /** Failed deliveries in a row. */
    failures: 'INTEGER NOT NULL DEFAULT 0',
    last_error: 'TEXT',
    /** The update that was delivered last, and a mark that identifies it among updates of its id. */
    delivered_id: 'INTEGER',
    delivered_mark: 'TEXT',
  },
} as const
