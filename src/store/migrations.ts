import { sql, type Kysely } from 'kysely'

/**
 * One step of the schema. Steps run in order and are never changed once released; the number of
 * steps that ran is the store's version (`PRAGMA user_version`).
 */
export interface SchemaStep {
  /** Sorts behind every earlier name. */
  name: string
  up(db: Kysely<unknown>): Promise<void>
}

const TABLES = [
  `CREATE TABLE own_keys (
     fingerprint TEXT PRIMARY KEY NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('pending', 'active', 'retired')),
     created_at INTEGER NOT NULL,
     published_at INTEGER,
     retired_at INTEGER,
     certificate TEXT NOT NULL,
     locked TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE chats (
     id INTEGER PRIMARY KEY NOT NULL,
     kind TEXT NOT NULL,
     latched_at INTEGER,
     refused_at INTEGER,
     lifted_at INTEGER
   ) STRICT`,
  `CREATE TABLE people (
     user_id INTEGER PRIMARY KEY NOT NULL,
     signed_at INTEGER
   ) STRICT`,
  `CREATE TABLE certificates (
     fingerprint TEXT PRIMARY KEY NOT NULL,
     user_id INTEGER NOT NULL,
     first_seen_at INTEGER NOT NULL,
     revoked_armored TEXT
   ) STRICT`,
  `CREATE TABLE seen (
     digest BLOB PRIMARY KEY NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('data', 'signature')),
     chat_id INTEGER NOT NULL,
     message_id INTEGER,
     user_id INTEGER,
     seen_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX seen_by_time ON seen (seen_at)`,
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
     digest BLOB NOT NULL
   ) STRICT`,
]

const TRUST = [
  `CREATE TABLE pins (
     user_id INTEGER PRIMARY KEY NOT NULL,
     fingerprint TEXT,
     since INTEGER NOT NULL,
     standing TEXT NOT NULL CHECK (standing IN ('seen', 'accepted', 'verified', 'blocked')),
     listed TEXT,
     listed_at INTEGER
   ) STRICT`,
  `CREATE TABLE trust_policies (
     chat_id INTEGER PRIMARY KEY NOT NULL,
     policy TEXT NOT NULL CHECK (policy IN ('accept', 'first-use', 'pinned'))
   ) STRICT`,
  `CREATE TABLE lists (
     chat_id INTEGER PRIMARY KEY NOT NULL,
     people TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE journal (
     id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
     at INTEGER NOT NULL,
     kind TEXT NOT NULL,
     user_id INTEGER,
     chat_id INTEGER,
     detail TEXT NOT NULL
   ) STRICT`,
]

const OUTCOMES = [
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
]

const WEBHOOK = `CREATE TABLE webhook (
  id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  url TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  delivered_id INTEGER,
  delivered_mark TEXT
) STRICT`

/** One key is pending at most, and one active; a destroyed one leaves its certificate alone. */
const KEY_LIFE = [
  `CREATE TABLE own_keys_new (
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
  // whether a key of a former version was ever on its way to the service is not known: it may be
  `INSERT INTO own_keys_new
     (fingerprint, state, created_at, offered_at, published_at, retired_at, certificate, locked)
     SELECT fingerprint, state, created_at, created_at, published_at, retired_at, certificate, locked
     FROM own_keys`,
  `DROP TABLE own_keys`,
  `ALTER TABLE own_keys_new RENAME TO own_keys`,
  `CREATE UNIQUE INDEX own_keys_once ON own_keys (state) WHERE state IN ('pending', 'active')`,
]

const MEDIA = [
  `ALTER TABLE seen ADD COLUMN media_id TEXT`,
  `CREATE TABLE media (
     id TEXT NOT NULL,
     chat_id INTEGER NOT NULL,
     sender TEXT NOT NULL,
     named_at INTEGER NOT NULL,
     digest BLOB,
     PRIMARY KEY (id, chat_id, sender)
   ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX media_by_time ON media (named_at)`,
]

const PROOF = [
  `ALTER TABLE chats ADD COLUMN person_id INTEGER`,
  // Whom the service named before, not whoever it names first from now on.
  `UPDATE chats SET person_id = (
     SELECT json_extract(people, '$[0][0]') FROM lists
     WHERE chat_id = chats.id AND json_array_length(people) = 1
   ) WHERE kind = 'private'`,
  `ALTER TABLE people ADD COLUMN signed_files_at INTEGER`,
]

/**
 * Whose a certificate is, the operator alone says. Who lists it stands in `pins`. What was believed
 * of whoever was listed first is dropped; of the operator's words those that still stand are kept.
 */
const CLAIMS = [
  `CREATE TABLE certificates_new (
     fingerprint TEXT PRIMARY KEY NOT NULL,
     owner INTEGER,
     revoked_armored TEXT
   ) STRICT`,
  `INSERT INTO certificates_new (fingerprint, owner, revoked_armored)
     SELECT c.fingerprint, p.user_id, c.revoked_armored
     FROM certificates c LEFT JOIN pins p
       ON p.user_id = c.user_id AND p.fingerprint = c.fingerprint
       AND p.standing IN ('accepted', 'verified')
     WHERE p.user_id IS NOT NULL OR c.revoked_armored IS NOT NULL`,
  `DROP TABLE certificates`,
  `ALTER TABLE certificates_new RENAME TO certificates`,
]

const ONCE = [
  `ALTER TABLE seen ADD COLUMN update_id INTEGER`,
  `ALTER TABLE seen ADD COLUMN dated_at INTEGER`,
  `ALTER TABLE seen ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE seen ADD COLUMN is_signed INTEGER NOT NULL DEFAULT 0`,
  // Which data was signed is not known of what was remembered before: it is kept as unsigned.
  `UPDATE seen SET is_signed = 1 WHERE kind = 'signature'`,
  // The first update that a message was given to the bot with is the one that brought it.
  `CREATE INDEX outcomes_by_message ON outcomes (message_id)`,
  `UPDATE seen SET update_id = (
     SELECT min(update_id) FROM outcomes
     WHERE outcomes.message_id = seen.message_id AND outcomes.chat_id = seen.chat_id
       AND outcomes.user_id = seen.user_id AND delivered = 1
   ) WHERE kind = 'data' AND message_id IS NOT NULL AND media_id IS NULL`,
  `DROP INDEX outcomes_by_message`,
  `CREATE TABLE encryption_keys (
     key_id TEXT NOT NULL,
     user_id INTEGER NOT NULL,
     PRIMARY KEY (key_id, user_id)
   ) STRICT, WITHOUT ROWID`,
]

/**
 * What is locked under the passphrase cannot be locked anew without it: that is done when the store
 * has been opened (`Store.upgrade`). Until then the column is null, and all is as it was.
 */
const MASTER_SECRET = `ALTER TABLE protection ADD COLUMN master BLOB`

const KEY_CHANGES = `CREATE TABLE key_changes (
  user_id INTEGER PRIMARY KEY NOT NULL,
  before TEXT NOT NULL,
  now TEXT NOT NULL,
  message TEXT,
  send TEXT
) STRICT`

const NAMES = `CREATE TABLE names (
  user_id INTEGER PRIMARY KEY NOT NULL,
  username TEXT NOT NULL
) STRICT`

const SINCE = [
  `ALTER TABLE encryption_keys ADD COLUMN since INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE lists ADD COLUMN ever TEXT`,
]

const COPIES = [
  `ALTER TABLE certificates ADD COLUMN copy TEXT`,
  `ALTER TABLE certificates ADD COLUMN copy_digest TEXT`,
  `ALTER TABLE pins ADD COLUMN former TEXT`,
  `ALTER TABLE pins ADD COLUMN former_at INTEGER`,
  `ALTER TABLE pins ADD COLUMN former_pinned INTEGER NOT NULL DEFAULT 0`,
]

const PRESSES = `CREATE TABLE presses (
  id TEXT NOT NULL,
  chat_id INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (id, chat_id)
) STRICT, WITHOUT ROWID`

/** What a webhook has taken was confirmed. */
const CONFIRMED = [
  `CREATE TABLE confirmed (
     id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
     below INTEGER NOT NULL,
     counts_anew INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  `INSERT INTO confirmed (id, below)
     SELECT 1, delivered_id + 1 FROM webhook WHERE delivered_id IS NOT NULL`,
  `ALTER TABLE seen ADD COLUMN counted_anew INTEGER NOT NULL DEFAULT 0`,
  `CREATE INDEX seen_counted_anew ON seen (update_id) WHERE counted_anew = 1`,
]

/** Every step there is. */
export const MIGRATIONS: readonly SchemaStep[] = [
  step('001-first', ...TABLES),
  step('010-trust', ...TRUST),
  step('011-outcomes', ...OUTCOMES),
  step('012-webhook', WEBHOOK),
  step('013-key-life', ...KEY_LIFE),
  step('020-media', ...MEDIA),
  step('021-proof', ...PROOF),
  step('022-claims', ...CLAIMS),
  step('023-once', ...ONCE),
  step('024-master-secret', MASTER_SECRET),
  step('025-key-changes', KEY_CHANGES),
  step('026-names', NAMES),
  step('027-listed-since', ...SINCE),
  step('028-copies', ...COPIES),
  step('029-presses', PRESSES),
  step('030-confirmed', ...CONFIRMED),
]

/** The first version whose keys are not locked under the passphrase itself. */
export const MASTER_SECRET_VERSION =
  MIGRATIONS.findIndex(({ name }) => name === '024-master-secret') + 1

function step(name: string, ...statements: string[]): SchemaStep {
  return {
    name,
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db)
    },
  }
}
