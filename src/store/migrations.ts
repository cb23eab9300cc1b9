/** Every step of the schema of a file; `postgres/steps.ts` derives those of PostgreSQL from them. */
import { FIRST_TABLES } from './first-tables.ts'

/** One step of the schema of a file. Never changed once released. */
export interface SchemaStep {
  /** The version of a store after it (`PRAGMA user_version`). */
  version: number
  statements: readonly string[]
}

/** The version of the stores of Postern 0.1.0. */
export const FIRST_VERSION = 16

const FIRST_INDEXES = [
  `CREATE UNIQUE INDEX own_keys_once ON own_keys (state) WHERE state IN ('pending', 'active')`,
  `CREATE INDEX seen_by_time ON seen (seen_at)`,
  `CREATE INDEX seen_counted_anew ON seen (update_id) WHERE counted_anew = 1`,
  `CREATE INDEX media_by_time ON media (named_at)`,
  `CREATE INDEX outcomes_by_update ON outcomes (update_id)`,
  `CREATE INDEX outcomes_by_time ON outcomes (at)`,
  `CREATE INDEX sent_by_time ON sent (at)`,
]

/** Tables that later steps make. */
export const LATER_TABLES = {
  /** Clients of the bot's door that were added by command (`clients/clients.ts`). */
  clients: {
    name: 'TEXT PRIMARY KEY NOT NULL',
    /** As in `Client`. */
    credential: 'TEXT NOT NULL UNIQUE',
    /** JSON of `ClientScope`. */
    allows: 'TEXT NOT NULL',
    created_at: 'INTEGER NOT NULL',
  },

  /** When a client may send next, so that one rate counts for all sidecars and over a restart. */
  client_rates: { name: 'TEXT PRIMARY KEY NOT NULL', next_at: 'INTEGER NOT NULL' },

  /** Which updates a consumer has (`updates/cursors.ts`); the bot is the one without a name. */
  cursors: {
    name: 'TEXT NOT NULL PRIMARY KEY',
    /** The last one that it has; null: none. */
    update_id: 'INTEGER',
    mark: 'TEXT',
    /** How many updates it was given up to there. */
    given: 'INTEGER NOT NULL',
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
    created_at: 'INTEGER NOT NULL',
    due_at: 'INTEGER NOT NULL',
    bytes: 'INTEGER NOT NULL',
    /** Why it was refused or is held. */
    code: 'TEXT',
    sent_id: 'INTEGER',
    settled_at: 'INTEGER',
    /** 0 or 1: the bot has heard how it was settled. */
    heard: 'INTEGER NOT NULL DEFAULT 0',
    /** JSON of `Approval`; null: no person's word is needed. */
    approval: 'TEXT',
  },

  /** Signed heads of the journal (`keys/journal-heads.ts`), and the last entry that was removed. */
  journal_heads: {
    /** The id of the entry, and its hash. */
    entry: 'INTEGER PRIMARY KEY NOT NULL',
    hash: 'BLOB NOT NULL',
    at: 'INTEGER NOT NULL',
    /** Text under a cleartext signature (RFC 9580, 7); null while none was made. */
    signed: 'TEXT',
  },

  /** What stays of a forgotten person, under keyed hashes (`store/forgotten.ts`). */
  forgotten: {
    person: 'TEXT PRIMARY KEY NOT NULL',
    /** In place of the pinned fingerprint. */
    pin: 'TEXT',
    standing: `TEXT NOT NULL CHECK (standing IN ('seen', 'accepted', 'verified', 'blocked'))`,
    since: 'INTEGER NOT NULL',
    /** As in `pins`, with a keyed hash in place of the fingerprint. */
    vouched: 'TEXT',
    signed_at: 'INTEGER',
    signed_files_at: 'INTEGER',
  },
} as const

/** Columns that the second step adds. */
const DERIVATION = {
  /** Of the protection's key, as in `KeyDerivation`. */
  protection: { derivation: `TEXT NOT NULL DEFAULT 'scrypt'` },
} as const

/** Columns that the fourth step adds. */
const CHAIN_AND_VOUCHED = {
  /** The random secret as the operator’s command wrapped it; null for the other methods. */
  protection: { wrapped: 'TEXT' },
  journal: {
    /** Null for an entry of before the chain. */
    hash: 'BLOB',
    /** Random; null once the content was erased. */
    salt: 'BLOB',
    /** Of the content, once that was erased. */
    digest: 'BLOB',
  },
  /** JSON of `Vouched`; null where no authority certifies any as the person's. */
  pins: { vouched: 'TEXT' },
} as const

/** Columns that the fifth step adds before MACs, and after them. */
const CALLS = {
  /** Those that a client was shown after them: ids and marks, in order. */
  cursors: { shown: 'TEXT' },
  outbox: {
    /** The state of its call, as in `OutboxEntry`. */
    call: `TEXT NOT NULL DEFAULT 'none'`,
    /** As in `Client`; null: the bot's, or one of before. */
    credential: 'TEXT',
  },
} as const
const PLACES = {
  journal: {
    /** One of `PLACES` (`records/journal.ts`). */
    place: 'INTEGER NOT NULL DEFAULT 0',
    /** The hash of the entry before it, once that may be removed. */
    former: 'BLOB',
  },
  /** Of the last entry that was removed: a hash over all that stay before it. */
  journal_heads: { kept: 'BLOB' },
} as const

/** Tables whose rows grant or loosen (`row-seal.ts`). */
const WITH_MAC = [
  ...(['own_keys', 'chats', 'certificates', 'pins', 'trust_policies', 'flags', 'clients'] as const),
  ...(['outbox', 'forgotten', 'journal', 'journal_heads', 'media', 'encryption_keys'] as const),
  ...(['presses', 'client_rates'] as const),
]
type Macs = Record<(typeof WITH_MAC)[number], { mac: 'BLOB' }>

/** Every table, with all of its columns as SQLite declares them. */
export type DeclaredTables = typeof FIRST_TABLES &
  typeof LATER_TABLES &
  typeof DERIVATION &
  typeof CHAIN_AND_VOUCHED &
  typeof CALLS &
  Macs &
  typeof PLACES

type TablesOfColumns = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Tables that are ordered by their key, with the key where it has several columns. */
const WITHOUT_ROW_ID: Readonly<Record<string, readonly string[]>> = {
  seen: [],
  encryption_keys: ['PRIMARY KEY (key_id, user_id)'],
  media: ['PRIMARY KEY (id, chat_id, sender)'],
  presses: ['PRIMARY KEY (id, chat_id)'],
}

function createTables(tables: TablesOfColumns): string[] {
  return Object.entries(tables).map(([table, columns]) => {
    const declared = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
    const key = WITHOUT_ROW_ID[table]
    const lines = [...declared, ...(key ?? [])].join(',\n')
    return `CREATE TABLE ${table} (\n${lines}\n) STRICT${key === undefined ? '' : ', WITHOUT ROWID'}`
  })
}

function addColumns(tables: TablesOfColumns): string[] {
  return Object.entries(tables).flatMap(([table, columns]) =>
    Object.entries(columns).map(
      ([column, type]) => `ALTER TABLE ${table} ADD COLUMN ${column} ${type}`,
    ),
  )
}

const { journal_heads, forgotten, ...clientsAndOutbox } = LATER_TABLES

/** Every step; each raises the version by one. */
export const MIGRATIONS: readonly SchemaStep[] = [
  [...createTables(FIRST_TABLES), ...FIRST_INDEXES],
  addColumns(DERIVATION),
  createTables(clientsAndOutbox),
  [
    ...addColumns(CHAIN_AND_VOUCHED),
    ...createTables({ journal_heads, forgotten }),
    `UPDATE journal SET salt = randomblob(16)`,
  ],
  [
    ...addColumns(CALLS),
    // calls of settings' clients of before are refused when they leave
    `UPDATE outbox SET credential =
       (SELECT credential FROM clients WHERE clients.name = outbox.client)`,
    ...addColumns(Object.fromEntries(WITH_MAC.map((table) => [table, { mac: 'BLOB' }]))),
    ...addColumns(PLACES),
    `CREATE INDEX journal_first ON journal (user_id) WHERE place = 1`,
  ],
].map((statements, step) => ({ version: FIRST_VERSION + step, statements }))

export const NEWEST_VERSION = MIGRATIONS.at(-1)?.version ?? FIRST_VERSION
