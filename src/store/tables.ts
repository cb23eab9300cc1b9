import { CALLER_TABLES } from './caller-tables.ts'

/**
 * The tables of Postern 0.1.0, each column as SQLite declares it. Never changed once released: later
 * steps of `migrations.ts` add to them.
 */
export const TABLES = {
  /** The bot's own OpenPGP keys. */
  own_keys: {
    /** 40 lower-case hexadecimal characters. */
    fingerprint: 'TEXT PRIMARY KEY NOT NULL',
    /** One key is pending at most, and one active. */
    state: `TEXT NOT NULL CHECK (state IN ('pending', 'active', 'retired', 'destroyed'))`,
    created_at: 'INTEGER NOT NULL',
    /** When its publication was begun: from then on the service may know it. */
    offered_at: 'INTEGER',
    published_at: 'INTEGER',
    retired_at: 'INTEGER',
    destroyed_at: 'INTEGER',
    /** The number of messages and files that it has opened, and the last time. */
    opened_messages: 'INTEGER NOT NULL DEFAULT 0',
    opened_media: 'INTEGER NOT NULL DEFAULT 0',
    last_opened_at: 'INTEGER',
    /** Armored certificate. */
    certificate: 'TEXT NOT NULL',
    /**
     * Armored secret key, locked under `Store.masterSecret`, stored unchanged. Empty once it is
     * destroyed.
     */
    locked: `TEXT NOT NULL CHECK ((locked = '') = (state = 'destroyed'))`,
    mac: 'BLOB',
  },

  /** Chats (`kernel/` decides with them). */
  chats: {
    id: 'INTEGER PRIMARY KEY NOT NULL',
    kind: 'TEXT NOT NULL',
    /** When the chat was first seen protected; null when it is not latched. */
    latched_at: 'INTEGER',
    /** When readable text for it was last refused; null when none was since the last lift. */
    refused_at: 'INTEGER',
    /** When the operator last lifted the latch. */
    lifted_at: 'INTEGER',
    /** The one person of a private chat, once learned. */
    person_id: 'INTEGER',
    mac: 'BLOB',
  },

  /** People, and which signatures they owe. */
  people: {
    user_id: 'INTEGER PRIMARY KEY NOT NULL',
    /** When the person first signed words; from then on they must sign words. */
    signed_at: 'INTEGER',
    /** The same of files: phones may sign the one and not the other. */
    signed_files_at: 'INTEGER',
  },

  /** The handle that the service last showed of a person (`names.ts`). */
  names: { user_id: 'INTEGER PRIMARY KEY NOT NULL', username: 'TEXT NOT NULL' },

  /** The owner of a certificate by the operator's decision, and its revocations. */
  certificates: {
    /** Or of a revoked certification: of the certificate, a blank, and of its certifier. */
    fingerprint: 'TEXT PRIMARY KEY NOT NULL',
    /** Null while the operator has named nobody. */
    owner: 'INTEGER',
    /** The armored certificate with its revocations, once it had any. */
    revoked_armored: 'TEXT',
    /** The armored certificate as it was last listed, with the newest self-signatures ever seen. */
    copy: 'TEXT',
    /** SHA-256 of `copy`, base64. */
    copy_digest: 'TEXT',
    mac: 'BLOB',
  },

  /** Sealed data and signatures met before, as keyed digests. */
  seen: {
    digest: 'BLOB PRIMARY KEY NOT NULL',
    kind: `TEXT NOT NULL CHECK (kind IN ('data', 'signature'))`,
    chat_id: 'INTEGER NOT NULL',
    message_id: 'INTEGER',
    user_id: 'INTEGER',
    seen_at: 'INTEGER NOT NULL',
    /** Of an attachment; null for a message. */
    media_id: 'TEXT',
    /** The update that brought the message; null while none has. */
    update_id: 'INTEGER',
    /** The date in the message; null for an attachment. */
    dated_at: 'INTEGER',
    /** How often the signature was seen on other data since. */
    repeats: 'INTEGER NOT NULL DEFAULT 0',
    /** 0 or 1: a signature on the data was verified. */
    is_signed: 'INTEGER NOT NULL DEFAULT 0',
    /**
     * 0 or 1: its update first had an id below a confirmed one, because the service restarted its
     * numbering, and was not confirmed since.
     */
    counted_anew: 'INTEGER NOT NULL DEFAULT 0',
  },

  /** The confirmed updates (`confirmed-updates.ts`): no row, or the one with `id` 1. */
  confirmed: {
    id: 'INTEGER PRIMARY KEY NOT NULL CHECK (id = 1)',
    /** All updates with a lower id were. */
    below: 'INTEGER NOT NULL',
    /** 0 or 1: rows of `seen` may be counted anew. */
    counts_anew: 'INTEGER NOT NULL DEFAULT 0',
  },

  /** Keys that people's certificates list to be encrypted to (`people/known-keys.ts`). */
  encryption_keys: {
    /** 16 lower-case hexadecimal characters. */
    key_id: 'TEXT NOT NULL',
    user_id: 'INTEGER NOT NULL',
    /** When the person was first listed with it. */
    since: 'INTEGER NOT NULL',
    mac: 'BLOB',
  },

  /** Attachments that updates named, with their chat and sender (`opening/named-media.ts`). */
  media: {
    id: 'TEXT NOT NULL',
    chat_id: 'INTEGER NOT NULL',
    /** The sender's user id in decimal; empty for nobody. */
    sender: 'TEXT NOT NULL',
    named_at: 'INTEGER NOT NULL',
    /** Of the data that was opened under this id, keyed; null before it was. */
    digest: 'BLOB',
    mac: 'BLOB',
  },

  /** In which chats a button was lately pressed (`wall/presses.ts`). */
  presses: {
    /** SHA-256 of the id of the press, base64. */
    id: 'TEXT NOT NULL',
    /** 0: its update names none. */
    chat_id: 'INTEGER NOT NULL',
    seen_at: 'INTEGER NOT NULL',
    mac: 'BLOB',
  },

  /** Single facts about the bot or the sidecar. */
  flags: { name: 'TEXT PRIMARY KEY NOT NULL', value: 'TEXT NOT NULL', mac: 'BLOB' },

  /** Secrets by name, sealed under the protection (`protection.ts`). */
  secrets: { name: 'TEXT PRIMARY KEY NOT NULL', sealed: 'BLOB NOT NULL' },

  /** How the secrets are protected: no row, or the one row with `id` 1 (`protection.ts`). */
  protection: {
    id: 'INTEGER PRIMARY KEY NOT NULL CHECK (id = 1)',
    method: 'TEXT NOT NULL',
    /** Of its key: RFC 9106, or RFC 7914. */
    derivation: `TEXT NOT NULL CHECK (derivation IN ('argon2id', 'scrypt'))`,
    /** Of Argon2id the memory in KiB, of scrypt N. */
    n: 'INTEGER NOT NULL',
    /** Of Argon2id the passes, of scrypt the block size. */
    r: 'INTEGER NOT NULL',
    /** The parallelism. */
    p: 'INTEGER NOT NULL',
    salt: 'BLOB NOT NULL',
    /** A known value sealed under the passphrase. */
    proof: 'BLOB NOT NULL',
    /** SHA-256 over all others, to distinguish damage from a wrong passphrase. */
    digest: 'BLOB NOT NULL',
    /** The random master secret, and the key of rows' MACs, sealed under the passphrase. */
    master: 'BLOB NOT NULL',
    /** The random secret as the operator’s command wrapped it; null for the other methods. */
    wrapped: 'TEXT',
  },

  /**
   * A person's current fingerprint, and the one that the service lists, which is their claim to
   * that certificate; null once it lists none (`people/pins.ts`).
   */
  pins: {
    user_id: 'INTEGER PRIMARY KEY NOT NULL',
    fingerprint: 'TEXT',
    since: 'INTEGER NOT NULL',
    standing: `TEXT NOT NULL CHECK (standing IN ('seen', 'accepted', 'verified', 'blocked'))`,
    listed: 'TEXT',
    listed_at: 'INTEGER',
    /** The certificate that was listed before this one; null while there was none. */
    former: 'TEXT',
    /** When the change from it was seen; from then on it verifies nothing new. */
    former_at: 'INTEGER',
    /** 0 or 1: it was `fingerprint` then. */
    former_pinned: 'INTEGER NOT NULL DEFAULT 0',
    /** JSON of `Vouched`; null where no authority certifies any as the person's. */
    vouched: 'TEXT',
    mac: 'BLOB',
  },

  /**
   * The last change of a person's certificate: fingerprints, and the update and the send that
   * reported it to the bot; null before (`translate/key-changes.ts`).
   */
  key_changes: {
    user_id: 'INTEGER PRIMARY KEY NOT NULL',
    before: 'TEXT NOT NULL',
    now: 'TEXT NOT NULL',
    message: 'TEXT',
    send: 'TEXT',
  },

  /** Trust policies set by command; `chat_id` 0 is the bot's own. */
  trust_policies: {
    chat_id: 'INTEGER PRIMARY KEY NOT NULL',
    policy: `TEXT NOT NULL CHECK (policy IN ('accept', 'first-use', 'pinned'))`,
    mac: 'BLOB',
  },

  /** The last key list of a chat. */
  lists: {
    chat_id: 'INTEGER PRIMARY KEY NOT NULL',
    /** A JSON array of `[userId, fingerprint]`, by person. */
    people: 'TEXT NOT NULL',
    /** Every person ever listed with a usable certificate: JSON of `PastListing`. */
    ever: 'TEXT NOT NULL',
  },

  /** The append-only record of changes, chained (`journal-chain.ts`). */
  journal: {
    id: 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL',
    at: 'INTEGER NOT NULL',
    kind: 'TEXT NOT NULL',
    user_id: 'INTEGER',
    chat_id: 'INTEGER',
    /** JSON. */
    detail: 'TEXT NOT NULL',
    hash: 'BLOB NOT NULL',
    /** Random; null once the content was erased. */
    salt: 'BLOB',
    /** Of the content, once that was erased. */
    digest: 'BLOB',
    /** One of `PLACES` (`records/journal.ts`). */
    place: 'INTEGER NOT NULL',
    /** The hash of the entry before it, once that may be removed. */
    former: 'BLOB',
    mac: 'BLOB',
  },

  /** Outcomes of incoming Messages (`outcomes.ts`); several may be in one update. */
  outcomes: {
    update_id: 'INTEGER NOT NULL',
    at: 'INTEGER NOT NULL',
    chat_id: 'INTEGER',
    message_id: 'INTEGER',
    user_id: 'INTEGER',
    verdict: 'TEXT NOT NULL',
    reason: 'TEXT',
    /** 0 or 1 */
    delivered: 'INTEGER NOT NULL',
    opened_with: 'TEXT',
    signer: 'TEXT',
  },

  /** Recipients of the bot's messages. */
  sent: {
    message_id: 'INTEGER PRIMARY KEY NOT NULL',
    at: 'INTEGER NOT NULL',
    chat_id: 'INTEGER NOT NULL',
    recipients: 'INTEGER NOT NULL',
    /** JSON. */
    skipped: 'TEXT NOT NULL',
  },

  /** Signed heads of the journal (`keys/journal-heads.ts`), and the last entry that was removed. */
  journal_heads: {
    /** The id of the entry, and its hash. */
    entry: 'INTEGER PRIMARY KEY NOT NULL',
    hash: 'BLOB NOT NULL',
    at: 'INTEGER NOT NULL',
    /** Text under a cleartext signature (RFC 9580, 7); null while none was made. */
    signed: 'TEXT',
    /** Of the last entry that was removed: a hash over all that stay before it. */
    kept: 'BLOB',
    mac: 'BLOB',
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
    mac: 'BLOB',
  },

  ...CALLER_TABLES,
} as const
