/**
 * The kernel's only view of a store: what is remembered, in the words of the domain. `store/memory.ts`
 * implements it over SQL. Every time is in ms since the epoch, every digest is keyed.
 */

/** What is remembered of a chat for good. */
export interface KnownChat {
  id: number
  kind: string
  /** The one person of a private chat, once learned; null in any other chat. */
  personId: number | null
  /** Since when it is known to be protected; null: never seen protected, or lifted since. */
  latchedAtMs: number | null
  /** When readable text was last refused for it. */
  refusedAtMs: number | null
}

export interface ChatRecords {
  all(): Promise<KnownChat[]>
  of(chatIds: readonly number[]): Promise<KnownChat[]>
  /** @param o `liftedAtMs` when the operator lifted their latches */
  save(chats: readonly KnownChat[], o?: { liftedAtMs?: number }): Promise<void>
  /** Has other sidecars read chats again that are as they were. */
  touch(chatIds: readonly number[]): Promise<void>
  /** Whether the operator let private chats be readable. */
  isPrivateReadable(): Promise<boolean>
  /** @param sinceMs null: they are not */
  setPrivateReadable(sinceMs: number | null): Promise<void>
}

/** Presses of buttons, by a digest of their id; chat 0: its update names none. */
export interface PressRecords {
  add(presses: readonly { id: string; chatId: number }[], seenAtMs: number): Promise<void>
  chatsOf(id: string, limit: number): Promise<number[]>
  forgetBefore(seenAtMs: number): Promise<void>
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

export interface PinRecords {
  all(): Promise<Pin[]>
  of(userIds: readonly number[]): Promise<Pin[]>
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

export interface KeyChangeRecords {
  all(): Promise<KnownChange[]>
  of(userIds: readonly number[]): Promise<KnownChange[]>
  /** Writes changes of which the bot was told nothing yet. */
  save(changes: readonly KeyChange[]): Promise<void>
  /** @param key which update, or which send */
  setTold(change: KeyChange, by: ToldWith, key: string): Promise<void>
}

/** What a changed certificate of a person does (setting `trust.policy`). */
export const TRUST_POLICIES = ['accept', 'first-use', 'pinned'] as const
export type TrustPolicy = (typeof TRUST_POLICIES)[number]

/** Policies that were set by command; chat 0 is the bot. */
export interface PolicyRecords {
  all(): Promise<{ chatId: number; policy: TrustPolicy }[]>
  of(chatIds: readonly number[]): Promise<{ chatId: number; policy: TrustPolicy }[]>
  /** @param policy null takes back what was set */
  set(chatId: number, policy: TrustPolicy | null): Promise<void>
}

/** What a person may have signed: phones may sign the one and not the other. */
export type SignedKind = 'words' | 'file'

/** Who ever signed. */
export interface SignerRecords {
  all(): Promise<{ userId: number; kinds: SignedKind[] }[]>
  of(userIds: readonly number[]): Promise<{ userId: number; kinds: SignedKind[] }[]>
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

export interface CertificateRecords {
  all(): Promise<KnownCertificate[]>
  of(fingerprints: readonly string[]): Promise<KnownCertificate[]>
  /** Every certificate that the operator has named an owner of. */
  owners(fingerprints?: readonly string[]): Promise<{ fingerprint: string; userId: number }[]>
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

/**
 * `pending` is made and safe on disk, `active` is published, `retired` opens what is late, of
 * `destroyed` only the certificate is left.
 */
export type KeyState = 'pending' | 'active' | 'retired' | 'destroyed'

/** An own key as it was made. */
export interface MadeKeyRecord {
  fingerprint: string
  createdAtMs: number
  /** Armored certificate. */
  certificate: string
  /** Armored secret key, locked under `Memory.masterSecret`; empty once it is destroyed. */
  locked: string
}

/** One of the bot's own keys. */
export interface OwnKeyRow extends MadeKeyRecord {
  state: KeyState
  /** When its publication was begun: from then on the service may know it. */
  offeredAtMs: number | null
  publishedAtMs: number | null
  retiredAtMs: number | null
  destroyedAtMs: number | null
}

export interface OwnKeyRecords {
  /** Newest first. */
  all(): Promise<OwnKeyRow[]>
  of(fingerprints: readonly string[]): Promise<OwnKeyRow[]>
  /** When the first key was published; null when none was. */
  firstPublishedAtMs(): Promise<number | null>
  /** @param retiredAtMs null makes it the pending key */
  add(made: MadeKeyRecord, retiredAtMs: number | null): Promise<OwnKeyRow>
  setOffered(fingerprint: string, atMs: number | null): Promise<void>
  /** Makes a key the active one and retires the one before it. */
  promote(fingerprint: string, atMs: number): Promise<void>
  /** Deletes a pending key that was never offered. @returns whether there was one */
  deleteUnoffered(fingerprint: string): Promise<boolean>
  /** Drops the secret of a retired key. @returns whether there was one */
  eraseSecret(fingerprint: string, atMs: number): Promise<boolean>
}

/** Sealed data or a signature that was met. */
export interface SeenRecord {
  digest: Uint8Array
  kind: 'data' | 'signature'
  chatId: number
  messageId: number | null
  userId: number | null
  seenAtMs: number
  /** Of an attachment; null for a message. */
  mediaId: string | null
  /** The update that brought the message; null while none has. */
  updateId: number | null
  /** When the message says that it was written; null for an attachment. */
  datedAtMs: number | null
  /** How often the signature was seen on other data since. */
  repeats: number
  isSigned: boolean
  /** Its update came first with an id that was confirmed, and was not confirmed since. */
  isCountedAnew: boolean
}

/** Of `SeenRecord`, what is written: `confirmedBelow`, where it is an update's, decides `isCountedAnew`. */
export type NewSeen = Omit<SeenRecord, 'isCountedAnew'>

/** A signature that may stand on other data once more. */
export interface SignatureRepeatRule {
  chatId: number
  userId: number | null
  isFile: boolean
  /** It was seen on other data fewer times. */
  fewerThan: number
  /** Within so many ms of both, by the date of the Message and by our own clock; null: at any time. */
  within: { ms: number; datedAtMs: number; seenAtMs: number } | null
}

export interface SeenRecords {
  find(digests: readonly Uint8Array[]): Promise<SeenRecord[]>
  /** Adds what the bot seals itself, in one statement; what is there is repeated once more. */
  addOwn(seen: readonly NewSeen[]): Promise<void>
  /**
   * Adds what is not there; a signature that is there is repeated once more where `rule` lets it.
   * @param heldBelow ids below it are confirmed, whatever is written
   * @returns of each that was added or repeated whether it is counted anew
   */
  add(
    seen: readonly NewSeen[],
    o: { rule: SignatureRepeatRule; heldBelow: number },
  ): Promise<{ isCountedAnew: boolean }[]>
  /** Gives data its numbers where it has none yet. @returns it as it is then */
  bind(
    digest: Uint8Array,
    numbers: { messageId: number | null; updateId: number | null },
  ): Promise<SeenRecord | undefined>
  /** Whether data of anybody but one person was opened in a chat. */
  hasOpened(chatId: number, exceptUserId: number): Promise<boolean>
  /** Deletes what was seen before these times. @returns whether there was anything */
  forgetBefore(o: { signedMs: number; allMs: number }): Promise<boolean>
  /** Before which time rows may be missing since they were deleted; -Infinity: none are. */
  prunedBeforeMs(): Promise<number>
  setPrunedBeforeMs(atMs: number): Promise<void>
}

/** A stretch of time that the memory against replays knows nothing of, in ms since the epoch. */
export interface Gap {
  fromMs: number
  toMs: number
}

/** Up to where updates were confirmed. */
export interface ConfirmedRecords {
  /** All updates with a lower id were; 0: none is known. */
  below(): Promise<number>
  /** In one statement. @returns whether data may be counted anew; null where it is as high already */
  raise(below: number): Promise<{ countsAnew: boolean } | null>
  /** Whether all below is recorded, and nothing below is counted anew. */
  isRecorded(below: number): Promise<boolean>
  /** Data that is remembered under an id that was confirmed exists. */
  noteCountedAnew(): Promise<void>
  /** `raise`, and no data below is counted anew any more. */
  settle(below: number): Promise<void>
}

/** An attachment where it was found: its id, the chat, and who sent it. */
export interface MediaPlace {
  mediaId: string
  chatId: number
  /** Null where nobody is named. */
  userId: number | null
}

export interface MediaRecords {
  /** Adds places with the time now, those that are not there. */
  name(places: readonly MediaPlace[]): Promise<void>
  /** Keeps the newest ones alone. */
  prune(kept: number): Promise<void>
  /** Where an id was named first. */
  placeOf(mediaId: string): Promise<MediaPlace | null>
  /** What was opened under an id. */
  openedAs(mediaId: string): Promise<(MediaPlace & { digest: Uint8Array })[]>
  setOpened(place: MediaPlace, digest: Uint8Array): Promise<void>
}

/** All that is remembered, within one read or write. */
export interface Records {
  readonly chats: ChatRecords
  readonly presses: PressRecords
  readonly pins: PinRecords
  readonly keyChanges: KeyChangeRecords
  readonly policies: PolicyRecords
  readonly signers: SignerRecords
  readonly certificates: CertificateRecords
  readonly keyLists: KeyListRecords
  readonly encryptionKeys: EncryptionKeyRecords
  readonly journal: JournalRecords
  readonly ownKeys: OwnKeyRecords
  readonly seen: SeenRecords
  readonly confirmed: ConfirmedRecords
  readonly media: MediaRecords
}

/** Records that decisions keep in memory: a change by another sidecar is announced. */
export type FollowedRecords =
  | 'own_keys'
  | 'chats'
  | 'people'
  | 'certificates'
  | 'pins'
  | 'key_changes'
  | 'trust_policies'
  | 'flags'

/** What was observed and is not on disk yet. */
export interface UnwrittenSightings {
  /** Whether anything is not on disk yet. */
  readonly isDue: boolean
  /**
   * Writes all of it, compared with what is remembered as of this write.
   * @returns to be called once it is on disk, before any other write begins
   */
  save(records: Records): Promise<() => void>
}

/** What is remembered. `Store` says of each method what holds when it resolves, and what it throws. */
export interface Memory {
  /** Whether several sidecars write it. */
  readonly isShared: boolean
  /** What a key is locked under; null without protection. Ask inside the `write` of the key. */
  readonly masterSecret: string | null
  /** The time now, to date what is remembered. */
  nowMs(): number
  read<T>(query: (records: Records) => Promise<T>): Promise<T>
  write<T>(change: (records: Records) => Promise<T>, onWritten?: (result: T) => void): Promise<T>
  note<T>(
    change: (records: Records) => Promise<T>,
    o?: { isOrdered?: boolean; isSingle?: boolean },
  ): Promise<T>
  settle(): Promise<void>
  fresh(): Promise<void>
  writeFirst(sightings: UnwrittenSightings): void
  follow(
    kind: FollowedRecords,
    reread: (records: Records, keys: readonly string[]) => Promise<void>,
  ): void
  /** Overwrites on disk what was deleted. */
  scrub(): Promise<void>
}
