/** What is remembered of people and their certificates; part of `memory.ts`. */

/** Which records: those with these keys, as text; null: all. */
export type Keys = readonly string[] | null

/** Records of a kind that is kept in memory. */
export interface KeptRecords<R> {
  of(keys: Keys): Promise<R[]>
}

/**
 * How far a person's fingerprint is trusted: `seen` first, `accepted` by the operator, `verified`
 * by the operator against the person's own word, or the person is `blocked`.
 */
export type TrustStanding = 'seen' | 'accepted' | 'verified' | 'blocked'

/** A person's fingerprint, and how far it is trusted. */
export interface Pin {
  userId: number
  /** Null for somebody who was blocked before any certificate was seen. */
  fingerprint: string | null
  sinceMs: number
  standing: TrustStanding
  /**
   * The certificate that the service lists for the person now, the person's claim to it; null when it
   * lists none, or was never seen to list any.
   */
  listed: string | null
  listedAtMs: number | null
  /** The certificate that was listed before; absent while there was none. */
  former?: FormerCertificate
}

/** A certificate that a person was listed with before the present one. */
export interface FormerCertificate {
  fingerprint: string
  /** When the change from it was seen. */
  changedAtMs: number
  /** It was the pinned one then. */
  wasPinned: boolean
}

export interface PinRecords extends KeptRecords<Pin> {
  save(pins: readonly Pin[]): Promise<void>
}

/** The service lists another certificate for a person than before, as the bot is told it. */
export interface KeyChange {
  userId: number
  /** Fingerprints. */
  from: string
  to: string
}

/** Where the bot is told: with a message of the person, and with the answer to a send to them. */
export type ToldWith = 'message' | 'send'

/** A change, and the update and send with which the bot was told of it; null while it was not. */
export interface KnownChange extends KeyChange {
  message: string | null
  send: string | null
}

export interface KeyChangeRecords extends KeptRecords<KnownChange> {
  /** Writes changes of which the bot was told nothing yet. */
  save(changes: readonly KeyChange[]): Promise<void>
  /** @param key which update, or which send */
  setTold(change: KeyChange, by: ToldWith, key: string): Promise<void>
}

/** What a changed certificate of a person does (setting `trust.policy`). */
export const TRUST_POLICIES = ['accept', 'first-use', 'pinned'] as const
export type TrustPolicy = (typeof TRUST_POLICIES)[number]

/** Policies that were set by command; chat 0 is the bot. */
export interface PolicyRecords extends KeptRecords<{ chatId: number; policy: TrustPolicy }> {
  /** @param policy null takes back what was set */
  set(chatId: number, policy: TrustPolicy | null): Promise<void>
}

/** What a person may have signed: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file'

/** Who ever signed. */
export interface SignerRecords extends KeptRecords<{ userId: number; kinds: SignedKind[] }> {
  add(userId: number, kind: SignedKind): Promise<void>
  forget(userId: number): Promise<void>
}

/** What is kept of certificates beside whose they are: digests (SHA-256, base64) of copies. */
export interface KnownCertificate {
  fingerprint: string
  isRevoked: boolean
  copyDigest: string | null
}

/** An armored certificate as it was last listed. */
export interface CertificateCopy {
  fingerprint: string
  copy: string
  copyDigest: string
}

export interface CertificateRecords extends KeptRecords<KnownCertificate> {
  /** Certificates that the operator has named an owner of. */
  owners(fingerprints: Keys): Promise<{ fingerprint: string; userId: number }[]>
  setOwner(fingerprint: string, userId: number): Promise<void>
  copyOf(fingerprint: string): Promise<string | null>
  /** A copy that another sidecar has kept stays. */
  addCopies(copies: readonly CertificateCopy[]): Promise<void>
  /** Does nothing where another copy than that of `before` is kept by now. */
  replaceCopy(copy: CertificateCopy, before: string): Promise<void>
  /** The copy with revocations; empty where only that it is revoked is known, null for none. */
  revokedCopyOf(fingerprint: string): Promise<string | null>
  setRevokedCopy(fingerprint: string, armored: string): Promise<void>
}

/** A chat's last key list, and who was ever on it, as JSON. */
export interface KeptList {
  people: string
  ever: string | null
}

export interface KeyListRecords {
  of(chatId: number): Promise<KeptList | undefined>
  save(chatId: number, list: KeptList): Promise<void>
}

/** A key that a person's certificate was seen to list, and since when; 0: before that was noted. */
export interface KnownKey {
  /** 16 lower-case hexadecimal characters. */
  keyId: string
  userId: number
  sinceMs: number
}

export interface EncryptionKeyRecords {
  /** Adds those that are not there yet, while there is room. */
  add(keys: readonly KnownKey[]): Promise<void>
  of(keyIds: readonly string[]): Promise<KnownKey[]>
}

/** A change as the journal keeps it. */
export interface JournalEntry {
  id: number
  atMs: number
  kind: string
  userId: number | null
  chatId: number | null
  detail: Record<string, unknown>
}

export interface JournalRecords {
  append(entry: Omit<JournalEntry, 'id' | 'atMs'>): Promise<void>
  /** What came later than entry `afterId` and since `sinceMs`, in order, at most `limit`. */
  read(from: { afterId: number; sinceMs: number; limit: number }): Promise<JournalEntry[]>
}
