/** Tables of the journal and of forgotten people; part of `schema.ts`. */
import type { Generated } from 'kysely'

/** A row that grants or loosens (`row-seal.ts`). */
export interface WithMac {
  mac: Generated<Uint8Array | null>
}

export interface JournalTables {
  /** The append-only record of changes, chained (`journal-chain.ts`); `detail` is JSON. */
  journal: WithMac & {
    id: Generated<number>
    at: number
    kind: string
    user_id: number | null
    chat_id: number | null
    detail: string
    /** Null for an entry of before the chain. */
    hash: Generated<Uint8Array | null>
    /** Random; null once the content was erased. */
    salt: Generated<Uint8Array | null>
    /** Of the content, once that was erased. */
    digest: Generated<Uint8Array | null>
    /** One of `PLACES` (`records/journal.ts`). */
    place: Generated<number>
    /** The hash of the entry before it, once that may be removed. */
    former: Generated<Uint8Array | null>
  }

  /** Signed heads of the journal (`keys/journal-heads.ts`), and the last entry that was removed. */
  journal_heads: WithMac & {
    /** The id of the entry, and its hash. */
    entry: number
    hash: Uint8Array
    at: number
    /** Text under a cleartext signature (RFC 9580, 7); null while none was made. */
    signed: string | null
    /** Of the last entry that was removed: a hash over all that stay before it. */
    kept: Generated<Uint8Array | null>
  }

  /** What stays of a forgotten person, under keyed hashes (`store/forgotten.ts`). */
  forgotten: WithMac & {
    person: string
    /** In place of the pinned fingerprint. */
    pin: string | null
    standing: 'seen' | 'accepted' | 'verified' | 'blocked'
    since: number
    /** As in `pins`, with a keyed hash in place of the fingerprint. */
    vouched: string | null
    signed_at: number | null
    signed_files_at: number | null
  }
}
