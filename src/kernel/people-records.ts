/** Records of people and their certificates; part of `memory.ts`. */

/** Which records: those with these keys, as text; null: all. */
export type Keys = readonly string[] | null

/** Records of a kind that is kept in memory. */
export interface KeptRecords<R> {
  of(keys: Keys): Promise<R[]>
}

/**
 * How far a person's fingerprint is trusted: `seen` first, `accepted` by the operator, `verified` by
 * the operator with the person, or the person is `blocked`.
 */
export type TrustStanding = 'seen' | 'accepted' | 'verified' | 'blocked'

export interface Pin {
  userId: number
  /** Null for somebody who was blocked before any certificate was seen. */
  fingerprint: string | null
  sinceMs: number
  standing: TrustStanding
  /** The certificate that the service lists for the person now; null for none. */
  listed: string | null
  listedAtMs: number | null
  /** The certificate listed before; absent while there was none. */
  former?: FormerCertificate
  /** Absent while no authority certified any certificate as the person's. */
  vouched?: Vouched | undefined
}

/**
 * A certificate that an authority (`Authority.id`) certified as a person's, and until when, ms; kept
 * after its end with the date of the newest certification ever, before which no other one counts.
 */
export interface Vouched extends Record<'fingerprint' | 'by', string> {
  madeMs: number
  untilMs: number
}

export interface FormerCertificate {
  fingerprint: string
  /** When the change from it was seen. */
  changedAtMs: number
  /** Whether it was pinned then. */
  wasPinned: boolean
}

export interface PinRecords extends KeptRecords<Pin> {
  save(pins: readonly Pin[]): Promise<void>
}

/** A change of a person's certificate, as the bot is informed of it. */
export interface KeyChange {
  userId: number
  /** Fingerprints. */
  from: string
  to: string
}

/** The bot is informed with a message of the person, and with the answer to a send to them. */
export type ToldWith = 'message' | 'send'

/** A change, with the update and the send that informed the bot; null while none has. */
export interface KnownChange extends KeyChange {
  message: string | null
  send: string | null
}

export interface KeyChangeRecords extends KeptRecords<KnownChange> {
  /** Adds changes of which the bot is not informed yet. */
  save(changes: readonly KeyChange[]): Promise<void>
  /** @param key of the update or the send */
  setTold(change: KeyChange, by: ToldWith, key: string): Promise<void>
}

/** The consequence of a changed certificate (setting `trust.policy`). */
export const TRUST_POLICIES = ['accept', 'first-use', 'pinned'] as const
export type TrustPolicy = (typeof TRUST_POLICIES)[number]

/** Policies that were set by command; chat 0 is the bot. */
export interface PolicyRecords extends KeptRecords<{ chatId: number; policy: TrustPolicy }> {
  /** @param policy null deletes the one that was set */
  set(chatId: number, policy: TrustPolicy | null): Promise<void>
}

/** Signed content of a person: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file'

export interface SignerRecords extends KeptRecords<{ userId: number; kinds: SignedKind[] }> {
  add(userId: number, kind: SignedKind): Promise<void>
  /** @param alias as `ForgottenPeople.aliasOf` */
  forget(userId: number, alias?: string): Promise<void>
}

/** People who were forgotten, by keyed hashes of their ids. */
export interface ForgottenPeople {
  /** The pin, with keyed hashes in place of fingerprints; undefined: not forgotten. */
  pinOf(userId: number): Pin | undefined
  /** The pin with a fingerprint in place of its keyed hash; undefined where it has no such hash. */
  recalled(pin: Pin, fingerprint: string): Pin | undefined
  hasSigned(userId: number, kind: SignedKind): boolean
  aliasOf(userId: number): string | undefined
  /** Forgets that the person ever signed. */
  startOver(userId: number): void
}

/** A certificate; its copy by digest (SHA-256, base64). */
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
  /** An existing copy stays. */
  addCopies(copies: readonly CertificateCopy[]): Promise<void>
  /** Does nothing where the kept copy is not the one with digest `before`. */
  replaceCopy(copy: CertificateCopy, before: string): Promise<void>
  /** The copy with revocations; empty where only that it is revoked is known, null for none. */
  revokedCopyOf(fingerprint: string): Promise<string | null>
  setRevokedCopy(fingerprint: string, armored: string): Promise<void>
}

/** A chat's last key list, and everybody who was ever on it, as JSON. */
export interface KeptList {
  people: string
  ever: string
}

export interface KeyListRecords {
  of(chatId: number): Promise<KeptList | undefined>
  save(chatId: number, list: KeptList): Promise<void>
}

/** A key that a person's certificate lists, and since when; 0: before times were recorded. */
export interface KnownKey {
  /** 16 lower-case hexadecimal characters. */
  keyId: string
  userId: number
  sinceMs: number
}

export interface EncryptionKeyRecords {
  /** How many more have room, as far as is worth knowing. */
  room(): Promise<number>
  add(keys: readonly KnownKey[]): Promise<void>
  of(keyIds: readonly string[]): Promise<KnownKey[]>
}

export interface JournalEntry {
  id: number
  atMs: number
  kind: string
  userId: number | null
  chatId: number | null
  detail: Record<string, unknown>
}

export interface JournalRecords {
  /** Decisions, and the first other change of each person, are pushed out by nothing else. */
  append(entry: Omit<JournalEntry, 'id' | 'atMs'> & { isDecision: boolean }): Promise<void>
  /** Entries after `afterId` and since `sinceMs`, in order, at most `limit`; of `client` alone. */
  read(from: {
    afterId: number
    sinceMs: number
    limit: number
    client?: string | undefined
  }): Promise<JournalEntry[]>
}

export interface PeopleRecords {
  readonly pins: PinRecords
  readonly keyChanges: KeyChangeRecords
  readonly policies: PolicyRecords
  readonly signers: SignerRecords
  readonly certificates: CertificateRecords
  readonly keyLists: KeyListRecords
  readonly encryptionKeys: EncryptionKeyRecords
  readonly journal: JournalRecords
}
