/** One step of the schema of a file. Never changed once released. */
export interface SchemaStep {
  /** The version of a store after it (`PRAGMA user_version`). */
  version: number
  statements: readonly string[]
}

/** The version of the stores of Postern 0.1.0. */
export const FIRST_VERSION = 16

/** The tables of Postern 0.1.0; `postgres/steps.ts` derives those of PostgreSQL from them. */
const FIRST_TABLES: readonly string[] = [
  `CREATE TABLE own_keys (
     fingerprint TEXT PRIMARY KEY NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'retired', 'destroyed')),
     created_at INTEGER NOT NULL,
     offered_at INTEGER,
     published_at INTEGER,
     retired_at INTEGER,
     destroyed_at INTEGER,
     opened_messages INTEGER NOT NULL DEFAULT 0,
     opened_media INTEGER NOT NULL DEFAULT 0,
     last_opened_at INTEGER,
     certificate TEXT NOT NULL,
     locked TEXT NOT NULL CHECK ((locked = '') = (state = 'destroyed'))
   ) STRICT`,
  `CREATE UNIQUE INDEX own_keys_once ON own_keys (state) WHERE state IN ('pending', 'active')`,
  `CREATE TABLE chats (
     id INTEGER PRIMARY KEY NOT NULL,
     kind TEXT NOT NULL,
     latched_at INTEGER,
     refused_at INTEGER,
     lifted_at INTEGER,
     person_id INTEGER
   ) STRICT`,
  `CREATE TABLE people (
     user_id INTEGER PRIMARY KEY NOT NULL,
     signed_at INTEGER,
     signed_files_at INTEGER
   ) STRICT`,
  `CREATE TABLE names (
     user_id INTEGER PRIMARY KEY NOT NULL,
     username TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE certificates (
     fingerprint TEXT PRIMARY KEY NOT NULL,
     owner INTEGER,
     revoked_armored TEXT,
     copy TEXT,
     copy_digest TEXT
   ) STRICT`,
  `CREATE TABLE seen (
     digest BLOB PRIMARY KEY NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('data', 'signature')),
     chat_id INTEGER NOT NULL,
     message_id INTEGER,
     user_id INTEGER,
     seen_at INTEGER NOT NULL,
     media_id TEXT,
     update_id INTEGER,
     dated_at INTEGER,
     repeats INTEGER NOT NULL DEFAULT 0,
     is_signed INTEGER NOT NULL DEFAULT 0,
     counted_anew INTEGER NOT NULL DEFAULT 0
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX seen_by_time ON seen (seen_at)`,
  `CREATE INDEX seen_counted_anew ON seen (update_id) WHERE counted_anew = 1`,
  `CREATE TABLE confirmed (
     id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
     below INTEGER NOT NULL,
     counts_anew INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TABLE encryption_keys (
     key_id TEXT NOT NULL,
     user_id INTEGER NOT NULL,
     since INTEGER NOT NULL DEFAULT 0,
     PRIMARY KEY (key_id, user_id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE media (
     id TEXT NOT NULL,
     chat_id INTEGER NOT NULL,
     sender TEXT NOT NULL,
     named_at INTEGER NOT NULL,
     digest BLOB,
     PRIMARY KEY (id, chat_id, sender)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX media_by_time ON media (named_at)`,
  `CREATE TABLE presses (
     id TEXT NOT NULL,
     chat_id INTEGER NOT NULL,
     seen_at INTEGER NOT NULL,
     PRIMARY KEY (id, chat_id)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE flags (
     name TEXT PRIMARY KEY NOT NULL,
     value TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE secrets (
     name TEXT PRIMARY KEY NOT NULL,
     sealed BLOB NOT NULL
   ) STRICT`,
  `CREATE TABLE protection (
     id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
     method TEXT NOT NULL,
     n INTEGER NOT NULL,
     r INTEGER NOT NULL,
     p INTEGER NOT NULL,
     salt BLOB NOT NULL,
     proof BLOB NOT NULL,
     digest BLOB NOT NULL,
     master BLOB NOT NULL
   ) STRICT`,
  `CREATE TABLE pins (
     user_id INTEGER PRIMARY KEY NOT NULL,
     fingerprint TEXT,
     since INTEGER NOT NULL,
     standing TEXT NOT NULL CHECK (standing IN ('seen', 'accepted', 'verified', 'blocked')),
     listed TEXT,
     listed_at INTEGER,
     former TEXT,
     former_at INTEGER,
     former_pinned INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `CREATE TABLE key_changes (
     user_id INTEGER PRIMARY KEY NOT NULL,
     before TEXT NOT NULL,
     now TEXT NOT NULL,
     message TEXT,
     send TEXT
   ) STRICT`,
  `CREATE TABLE trust_policies (
     chat_id INTEGER PRIMARY KEY NOT NULL,
     policy TEXT NOT NULL CHECK (policy IN ('accept', 'first-use', 'pinned'))
   ) STRICT`,
  `CREATE TABLE lists (
     chat_id INTEGER PRIMARY KEY NOT NULL,
     people TEXT NOT NULL,
     ever TEXT
   ) STRICT`,
  `CREATE TABLE journal (
     id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     at INTEGER NOT NULL,
     kind TEXT NOT NULL,
     user_id INTEGER,
     chat_id INTEGER,
     detail TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE outcomes (
     update_id INTEGER NOT NULL,
     at INTEGER NOT NULL,
     chat_id INTEGER,
     message_id INTEGER,
     user_id INTEGER,
     verdict TEXT NOT NULL,
     reason TEXT,
     delivered INTEGER NOT NULL,
     opened_with TEXT,
     signer TEXT
   ) STRICT`,
  `CREATE INDEX outcomes_by_update ON outcomes (update_id)`,
  `CREATE INDEX outcomes_by_time ON outcomes (at)`,
  `CREATE TABLE sent (
     message_id INTEGER PRIMARY KEY NOT NULL,
     at INTEGER NOT NULL,
     chat_id INTEGER NOT NULL,
     recipients INTEGER NOT NULL,
     skipped TEXT NOT NULL
   ) STRICT`,
  `CREATE INDEX sent_by_time ON sent (at)`,
  `CREATE TABLE webhook (
     id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
     url TEXT,
     failures INTEGER NOT NULL DEFAULT 0,
     last_error TEXT,
     delivered_id INTEGER,
     delivered_mark TEXT
   ) STRICT`,
]

/** The derivation of the protection's key. */
const DERIVATION = [`ALTER TABLE protection ADD COLUMN derivation TEXT NOT NULL DEFAULT 'scrypt'`]

const CLIENTS_AND_OUTBOX = [
  // the clients of the bot's door, and when each may send next
  `CREATE TABLE clients (
     name TEXT PRIMARY KEY NOT NULL,
     credential TEXT NOT NULL UNIQUE,
     allows TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE client_rates (
     name TEXT PRIMARY KEY NOT NULL,
     next_at INTEGER NOT NULL
   ) STRICT`,
  // which updates each consumer has
  `CREATE TABLE cursors (
     name TEXT NOT NULL PRIMARY KEY,
     update_id INTEGER,
     mark TEXT,
     given INTEGER NOT NULL
   ) STRICT`,
  // sends and edits that are made later
  `CREATE TABLE outbox (
     number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     id TEXT NOT NULL UNIQUE,
     state TEXT NOT NULL CHECK (state IN ('asked', 'waiting', 'sent', 'refused', 'held')),
     chat_id INTEGER NOT NULL,
     message_id TEXT,
     is_for_sealed INTEGER NOT NULL,
     client TEXT,
     created_at INTEGER NOT NULL,
     due_at INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     code TEXT,
     sent_id INTEGER,
     settled_at INTEGER,
     heard INTEGER NOT NULL DEFAULT 0,
     approval TEXT
   ) STRICT`,
]

const JOURNAL_AND_FORGOTTEN = [
  // the secret of a protection as a command wrapped it
  `ALTER TABLE protection ADD COLUMN wrapped TEXT`,
  // the chain of the journal and its heads
  `ALTER TABLE journal ADD COLUMN hash BLOB`,
  `ALTER TABLE journal ADD COLUMN salt BLOB`,
  `ALTER TABLE journal ADD COLUMN digest BLOB`,
  `CREATE TABLE journal_heads (
     entry INTEGER PRIMARY KEY NOT NULL,
     hash BLOB NOT NULL,
     at INTEGER NOT NULL,
     signed TEXT
   ) STRICT`,
  // what stays of forgotten people, under keyed hashes
  `CREATE TABLE forgotten (
     person TEXT PRIMARY KEY NOT NULL,
     pin TEXT,
     standing TEXT NOT NULL CHECK (standing IN ('seen', 'accepted', 'verified', 'blocked')),
     since INTEGER NOT NULL,
     vouched TEXT,
     signed_at INTEGER,
     signed_files_at INTEGER
   ) STRICT`,
  // authorities that certify a person's certificate
  `ALTER TABLE pins ADD COLUMN vouched TEXT`,
  `UPDATE journal SET salt = randomblob(16)`,
]

const WITH_MAC = [
  'own_keys chats certificates pins trust_policies flags clients outbox forgotten',
  'journal journal_heads media encryption_keys presses client_rates',
].join(' ')

/** The updates that a client was shown, states of calls for later, MACs, places of the journal. */
const CALLS_AND_MACS = [
  `ALTER TABLE cursors ADD COLUMN shown TEXT`,
  `ALTER TABLE outbox ADD COLUMN call TEXT NOT NULL DEFAULT 'none'`,
  // calls of settings' clients of before are refused when they leave
  `ALTER TABLE outbox ADD COLUMN credential TEXT`,
  `UPDATE outbox SET credential =
     (SELECT credential FROM clients WHERE clients.name = outbox.client)`,
  ...WITH_MAC.split(' ').map((table) => `ALTER TABLE ${table} ADD COLUMN mac BLOB`),
  `ALTER TABLE journal ADD COLUMN place INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE journal ADD COLUMN former BLOB`,
  `ALTER TABLE journal_heads ADD COLUMN kept BLOB`,
  `CREATE INDEX journal_first ON journal (user_id) WHERE place = 1`,
]

/** Every step; each raises the version by one. */
export const MIGRATIONS: readonly SchemaStep[] = [
  FIRST_TABLES,
  DERIVATION,
  CLIENTS_AND_OUTBOX,
  JOURNAL_AND_FORGOTTEN,
  CALLS_AND_MACS,
].map((statements, step) => ({ version: FIRST_VERSION + step, statements }))

export const NEWEST_VERSION = MIGRATIONS.at(-1)?.version ?? FIRST_VERSION
