/**
 * The tables of a store. Every time is in milliseconds since the Unix epoch;
 * identifiers of chats, people and messages are the API's integers.
 */
import type { Generated, Selectable } from 'kysely'
import type { ClientTables } from './client-tables.ts'
import type { JournalTables, WithMac } from './journal-tables.ts'

/**
 * The protection of a store. Everything secret is locked under a master secret of 256 random bits,
 * and that alone is sealed by the method: under the operator's passphrase, through a slow derivation;
 * under a random secret in the OS keychain; under a random secret that a command of the operator's
 * wraps; or under a random secret in the store itself, which protects nothing.
 */
export const METHODS = ['passphrase', 'keychain', 'exec', 'none'] as const
export type ProtectionMethod = (typeof METHODS)[number]

/** How the key of a protection is derived: Argon2id (RFC 9106) or scrypt (RFC 7914), and its cost. */
export interface KeyDerivation {
  derivation: 'argon2id' | 'scrypt'
  /** Of Argon2id the memory in KiB, of scrypt N. */
  n: number
  /** Of Argon2id the passes, of scrypt the block size. */
  r: number
  /** The parallelism. */
  p: number
}

export interface Schema extends ClientTables, JournalTables {
  /** The bot's own OpenPGP keys (DESIGN, Keys). */
  own_keys: WithMac & {
    /** 40 lower-case hexadecimal characters. */
    fingerprint: string
    /** One key is pending at most, and one active. */
    state: 'pending' | 'active' | 'retired' | 'destroyed'
    created_at: number
    /** When its publication was begun: from then on the service may know it. */
    offered_at: number | null
    published_at: number | null
    retired_at: number | null
    destroyed_at: number | null
    /** The number of messages and files that it has opened, and the last time. */
    opened_messages: Generated<number>
    opened_media: Generated<number>
    last_opened_at: number | null
    /** Armored certificate. */
    certificate: string
    /**
     * Armored secret key, locked under `Store.masterSecret`, stored unchanged. Empty once it is
     * destroyed.
     */
    locked: string
  }

  /** Chats (`kernel/` decides with them). */
  chats: WithMac & {
    id: number
    kind: string
    /** The one person of a private chat, once learned. */
    person_id: number | null
    /** When the chat was first seen protected; null when it is not latched. */
    latched_at: number | null
    /** When readable text for it was last refused; null when none was since the last lift. */
    refused_at: number | null
    /** When the operator last lifted the latch. */
    lifted_at: number | null
  }

  /** People, and which signatures they owe. */
  people: {
    user_id: number
    /** When the person first signed words; from then on they must sign words. */
    signed_at: number | null
    /** The same of files: phones may sign the one and not the other. */
    signed_files_at: number | null
  }

  /** The handle that the service last showed of a person (`names.ts`). */
  names: { user_id: number; username: string }

  /** The owner of a certificate by the operator's decision, and its revocations. */
  certificates: WithMac & {
    /** Or of a revoked certification: of the certificate, a blank, and of its certifier. */
    fingerprint: string
    /** Null while the operator has named nobody. */
    owner: number | null
    /** The armored certificate with its revocations, once it had any. */
    revoked_armored: string | null
    /** The armored certificate as it was last listed, with the newest self-signatures ever seen. */
    copy: string | null
    /** SHA-256 of `copy`, base64. */
    copy_digest: string | null
  }

  /** Sealed data and signatures met before, as keyed digests. */
  seen: {
    digest: Uint8Array
    kind: 'data' | 'signature'
    chat_id: number
    message_id: number | null
    user_id: number | null
    seen_at: number
    /** Of an attachment; null for a message. */
    media_id: string | null
    /** The update that brought the message; null while none has. */
    update_id: number | null
    /** The date in the message; null for an attachment. */
    dated_at: number | null
    /** How often the signature was seen on other data since. */
    repeats: Generated<number>
    /** 0 or 1: a signature on the data was verified. */
    is_signed: Generated<number>
    /**
     * 0 or 1: its update first had an id below a confirmed one, because the service restarted its
     * numbering, and was not confirmed since.
     */
    counted_anew: Generated<number>
  }

  /** The confirmed updates (`confirmed-updates.ts`): no row, or the one with `id` 1. */
  confirmed: {
    id: number
    /** All updates with a lower id were. */
    below: number
    /** 0 or 1: rows of `seen` may be counted anew. */
    counts_anew: Generated<number>
  }

  /** Keys that people's certificates list to be encrypted to (`people/known-keys.ts`). */
  encryption_keys: WithMac & {
    /** 16 lower-case hexadecimal characters. */
    key_id: string
    user_id: number
    /** When the person was first listed with it; 0: before that was noted. */
    since: Generated<number>
  }

  /** Attachments that updates named, with their chat and sender (`opening/named-media.ts`). */
  media: WithMac & {
    id: string
    chat_id: number
    /** The sender's user id in decimal; empty for nobody. */
    sender: string
    named_at: number
    /** Of the data that was opened under this id, keyed; null before it was. */
    digest: Uint8Array | null
  }

  /** Single facts about the bot or the sidecar. */
  flags: WithMac & { name: string; value: string }

  /** Secrets by name, sealed under the protection (`protection.ts`). */
  secrets: { name: string; sealed: Uint8Array }

  /** How the secrets are protected: no row, or the one row with `id` 1 (`protection.ts`). */
  protection: KeyDerivation & {
    id: number
    method: string
    salt: Uint8Array
    /** A known value sealed under the passphrase. */
    proof: Uint8Array
    /** The random master secret, and the key of rows' MACs, sealed under the passphrase. */
    master: Uint8Array
    /** The random secret as the operator’s command wrapped it; null for the other methods. */
    wrapped: Generated<string | null>
    /** SHA-256 over all of the above, to distinguish damage from a wrong passphrase. */
    digest: Uint8Array
  }

  /**
   * A person's current fingerprint, and the one that the service lists, which is their claim to
   * that certificate; null once it lists none (`people/pins.ts`).
   */
  pins: WithMac & {
    user_id: number
    fingerprint: string | null
    since: number
    standing: 'seen' | 'accepted' | 'verified' | 'blocked'
    listed: string | null
    listed_at: number | null
    /** The certificate that was listed before this one; null while there was none. */
    former: string | null
    /** When the change from it was seen; from then on it verifies nothing new. */
    former_at: number | null
    /** 0 or 1: it was `fingerprint` then. */
    former_pinned: Generated<number>
    /** JSON of `Vouched`; null where no authority certifies any as the person's. */
    vouched: Generated<string | null>
  }

  /**
   * The last change of a person's certificate: fingerprints, and the update and the send that
   * reported it to the bot; null before (`translate/key-changes.ts`).
   */
  key_changes: {
    user_id: number
    before: string
    now: string
    message: string | null
    send: string | null
  }

  /** Trust policies set by command; `chat_id` 0 is the bot's own. */
  trust_policies: WithMac & { chat_id: number; policy: 'accept' | 'first-use' | 'pinned' }

  /** The last key list of a chat: a JSON array of `[userId, fingerprint]`, by person. */
  lists: {
    chat_id: number
    people: string
    /** Every person ever listed with a usable certificate: JSON of `PastListing`. */
    ever: Generated<string | null>
  }

  /** Outcomes of incoming Messages (`outcomes.ts`); several may be in one update. */
  outcomes: {
    update_id: number
    at: number
    chat_id: number | null
    message_id: number | null
    user_id: number | null
    verdict: string
    reason: string | null
    /** 0 or 1 */
    delivered: number
    opened_with: string | null
    signer: string | null
  }

  /** Recipients of the bot's messages; `skipped` is JSON. */
  sent: { message_id: number; at: number; chat_id: number; recipients: number; skipped: string }

  /**
   * The bot's own webhook: no row, or the one row with `id` 1. Its secret, when it has one, rests in
   * `secrets` under the name `webhook`.
   */
  webhook: {
    id: number
    /** As the bot gave it; null while none is set. */
    url: string | null
    /** Failed deliveries in a row. */
    failures: number
    last_error: string | null
    /** The update that was delivered last, and a mark that identifies it among updates of its id. */
    delivered_id: number | null
    delivered_mark: string | null
  }

  /** In which chats a button was lately pressed (`wall/presses.ts`); 0: its update names none. */
  presses: WithMac & {
    /** SHA-256 of the id of the press, base64. */
    id: string
    chat_id: number
    seen_at: number
  }
}

/** A row of a table as it is read. */
export type SchemaRow<Table extends keyof Schema> = Selectable<Schema[Table]>

export type ProtectionTable = SchemaRow<'protection'>
