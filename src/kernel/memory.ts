/**
 * The kernel's only view of a store: what is remembered, in the words of the domain. `store/memory.ts`
 * implements it over SQL. Every time is in ms since the epoch, every digest is keyed.
 */
import type {
  KeptRecords,
  Keys,
  PinRecords,
  KeyChangeRecords,
  PolicyRecords,
  SignerRecords,
  CertificateRecords,
  KeyListRecords,
  EncryptionKeyRecords,
  JournalRecords,
} from './people-records.ts'

export * from './people-records.ts'

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

export interface ChatRecords extends KeptRecords<KnownChat> {
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

/** Newest first. */
export interface OwnKeyRecords extends KeptRecords<OwnKeyRow> {
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

/** Observations of one class that are not on disk yet. */
export interface Unwritten {
  /** Whether there are any. */
  isDue(): boolean
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
  writeFirst(unwritten: Unwritten): void
  /** Reads all records of a kind, and later those again that another sidecar has changed. */
  keep(kind: FollowedRecords, read: (records: Records, keys: Keys) => Promise<void>): Promise<void>
  /** Overwrites on disk what was deleted. */
  scrub(): Promise<void>
}
