/**
 * The kernel's only view of a store, which `store/memory.ts` implements over SQL. Every time is in ms
 * since the epoch, every digest of messages and files is keyed.
 */
import type { KeptRecords, Keys, PeopleRecords } from './people-records.ts'

export * from './people-records.ts'

/** A chat that is remembered for good. */
export interface KnownChat {
  id: number
  kind: string
  /** The one person of a private chat; null while unknown, and in any other chat. */
  personId: number | null
  /** Since when it is known to be protected; null: never seen protected, or lifted since. */
  latchedAtMs: number | null
  /** When readable text was last refused for it. */
  refusedAtMs: number | null
}

export interface ChatRecords extends KeptRecords<KnownChat> {
  /** @param o `liftedAtMs`: when the operator lifted their latches */
  save(chats: readonly KnownChat[], o?: { liftedAtMs?: number }): Promise<void>
  /** Has other sidecars read unchanged chats again. */
  touch(chatIds: readonly number[]): Promise<void>
  /** Whether the operator has made private chats readable. */
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
 * `pending` is made and safe on disk, `active` is published, `retired` opens late messages, of
 * `destroyed` only the certificate is left.
 */
export type KeyState = 'pending' | 'active' | 'retired' | 'destroyed'

/** An own key as it was made. */
export interface MadeKeyRecord {
  fingerprint: string
  createdAtMs: number
  certificate: string
  /** Armored, too: locked under `Memory.masterSecret`, empty once destroyed; public if held elsewhere. */
  locked: string
}

/** One of the bot's own keys. */
export interface OwnKeyRow extends MadeKeyRecord {
  state: KeyState
  /** When its publication began: from then on the service may know it. */
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
  /** Makes a key the active one and retires the former. */
  promote(fingerprint: string, atMs: number): Promise<void>
  /** Deletes a pending key that was never offered. @returns whether there was one */
  deleteUnoffered(fingerprint: string): Promise<boolean>
  /** Drops the secret of a retired key; the other leaves a certificate. @returns whether there was one */
  eraseSecret(fingerprint: string, atMs: number): Promise<boolean>
  replaceSecret(fingerprint: string, certificate: string): Promise<boolean>
}

/** Sealed data or a signature that was seen. */
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
  /** The date in the message; null for an attachment. */
  datedAtMs: number | null
  /** How often the signature was seen on other data since. */
  repeats: number
  isSigned: boolean
  /** Its update arrived first under a confirmed id, and was not confirmed since. */
  isCountedAnew: boolean
}

/** The written part of `SeenRecord`: `ConfirmedRecords.below` decides `isCountedAnew`. */
export type NewSeen = Omit<SeenRecord, 'isCountedAnew'>

export interface SignatureRepeatRule {
  chatId: number
  userId: number | null
  isFile: boolean
  /** It was seen on other data fewer times. */
  fewerThan: number
  /** Within `ms` of both the date of the Message and our own clock; null: at any time. */
  within: { ms: number; datedAtMs: number; seenAtMs: number } | null
}

/** Signed rows from `fromMs` to before `signedMs` are forgotten, all to before `allMs`, no later. */
export type ForgettingRange = Record<'fromMs' | 'signedMs' | 'allMs', number>

/** Whether rows were deleted, and the next `fromMs`; at `signedMs` none is left. */
export interface ForgottenSlice {
  isAny: boolean
  nextMs: number
}

export interface SeenRecords {
  /** Reads rows that `find` will be asked for. */
  expect(digests: readonly Uint8Array[]): Promise<void>
  /** Supposes that there are none; else the write fails. @returns false where it must read them */
  suppose(digests: readonly Uint8Array[]): boolean
  find(digests: readonly Uint8Array[]): Promise<SeenRecord[]>
  /** Adds own sealed data in one statement; a row that is there repeats once more. */
  addOwn(seen: readonly NewSeen[]): Promise<void>
  /**
   * Adds new rows, with `finish` at the latest; a signature that is there repeats once more where
   * `rule` permits it. @throws OvertakenError
   */
  add(seen: readonly NewSeen[], o: { rule: SignatureRepeatRule; heldBelow: number }): Promise<void>
  /**
   * Writes all that `add` was given. @throws OvertakenError
   * @returns of each update's data whether it is counted anew, by the ids confirmed or `heldBelow`
   */
  finish(): Promise<{ updateId: number; isCountedAnew: boolean }[]>
  /** Gives data its numbers where it has none yet. @returns the row after that */
  bind(
    digest: Uint8Array,
    numbers: { messageId: number | null; updateId: number | null },
  ): Promise<SeenRecord | undefined>
  /** Whether data of anybody but one person was opened in a chat. */
  hasOpened(chatId: number, exceptUserId: number): Promise<boolean>
  /** Deletes some rows of before these times, the oldest first. */
  forgetSome(range: ForgettingRange): Promise<ForgottenSlice>
  /** Rows of before this time may be deleted; -Infinity: none are. */
  prunedBeforeMs(): Promise<number>
  setPrunedBeforeMs(atMs: number): Promise<void>
}

/** A period without any memory against replays, in ms since the epoch. */
export interface Gap {
  fromMs: number
  toMs: number
}

export interface ConfirmedRecords {
  /** All updates with a lower id are confirmed; 0: none is known. */
  below(): Promise<number>
  /**
   * In one statement, with `isAlone` only where nobody but the bot, which polls, gets updates.
   * @returns whether data may be counted anew; null where nothing changed
   */
  raise(below: number, o?: { isAlone?: boolean }): Promise<{ countsAnew: boolean } | null>
  /** Whether all lower ids are recorded, and none is counted anew. */
  isRecorded(below: number): Promise<boolean>
  /** Records that there is data under a confirmed id. */
  noteCountedAnew(): Promise<void>
  /** `raise`, and ends counting anew below. */
  settle(below: number): Promise<void>
}

/** An attachment: its id, its chat, and its sender. */
export interface MediaPlace {
  mediaId: string
  chatId: number
  /** Null where no sender is named. */
  userId: number | null
}

export interface MediaRecords {
  /** Adds new places with the time now. */
  name(places: readonly MediaPlace[]): Promise<void>
  /** Keeps the newest ones alone. */
  prune(kept: number): Promise<void>
  placeOf(mediaId: string): Promise<MediaPlace | null>
  /** The places and digests opened under an id. */
  openedAs(mediaId: string): Promise<(MediaPlace & { digest: Uint8Array })[]>
  setOpened(place: MediaPlace, digest: Uint8Array): Promise<void>
}

export interface Records extends PeopleRecords {
  readonly chats: ChatRecords
  readonly presses: PressRecords
  readonly ownKeys: OwnKeyRecords
  readonly seen: SeenRecords
  readonly confirmed: ConfirmedRecords
  readonly media: MediaRecords
}

/** Records that the kernel keeps in memory: a change by another sidecar is announced. */
export type FollowedRecords =
  | 'own_keys'
  | 'chats'
  | 'forgotten'
  | 'people'
  | 'certificates'
  | 'pins'
  | 'key_changes'
  | 'trust_policies'
  | 'flags'

/** Observations of one class that are not on disk yet. */
export interface Unwritten<R = Records> {
  isDue(): boolean
  /**
   * Writes all of it, compared with the memory as of this write.
   * @returns to be called once it is on disk, before any other write begins
   */
  save(records: R): Promise<() => void>
}

/**
 * The memory of the kernel, or of another folder with records of its own beside the kernel's. `Store`
 * documents what each method guarantees and throws.
 */
export interface Memory<R extends Records = Records, K extends string = FollowedRecords> {
  /** Whether several sidecars write it. */
  readonly isShared: boolean
  /** Grows with each change by any sidecar that was read; null: no other sidecar writes. */
  readonly epoch: number | null
  /** The secret that locks a key; null without protection. Read it inside the `write` of the key. */
  readonly masterSecret: string | null
  nowMs(): number
  read<T>(query: (records: R) => Promise<T>): Promise<T>
  write<T>(change: (records: R) => Promise<T>, onWritten?: (result: T) => void): Promise<T>
  note<T>(
    change: (records: R) => Promise<T>,
    o?: { isOrdered?: boolean; isSingle?: boolean },
  ): Promise<T>
  settle(): Promise<void>
  fresh(): Promise<void>
  writeFirst(unwritten: Unwritten<R>): void
  /** Reads all records of a kind, and later those again that another sidecar has changed. */
  keep(kind: K, read: (records: R, keys: Keys) => Promise<void>): Promise<void>
  /** Overwrites deleted data on disk. */
  scrub(): Promise<void>
}
