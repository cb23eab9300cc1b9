import { plainKind, type Persistence } from '../persistence/persistence.ts'
import type { ReadMessage } from './read.ts'
import type { ButtonAnswer, StoredMessage } from '../state.ts'

/** A message that a phone showed to its person. */
export interface InboxEntry extends ReadMessage {
  messageId: number
  chatId: number
  fromId: number
  /** An edit of a message shown before. */
  edited: boolean
}

export interface KeyChange {
  userId: number
  /** Null when the key was removed. */
  fingerprint: string | null
}

export interface ReceivedAnswer extends ButtonAnswer {
  callbackId: string
}

/** A message that was received and is not opened yet, as it was when received. */
export interface UnreadMessage {
  chatId: number
  message: StoredMessage
  edited: boolean
}

/** A list that is stored; entries are only appended. */
export class StoredList<V> {
  readonly all: V[]
  readonly #stored: Map<number, V>

  constructor(stored: Map<number, V>) {
    this.#stored = stored
    this.all = [...stored.values()]
  }

  push(entry: V): void {
    this.#stored.set(this.all.length, entry)
    this.all.push(entry)
  }
}

/** Everything that a phone stores beside its keys. */
export interface PhoneMemory {
  inbox: StoredList<InboxEntry>
  keyChanges: StoredList<KeyChange>
  answers: StoredList<ReceivedAnswer>
  /** By increasing numbers. */
  unread: Map<number, UnreadMessage>
}

export function openPhoneMemory(persistence: Persistence, userId: number): PhoneMemory {
  return {
    inbox: new StoredList(persistence.map(plainKind<InboxEntry>('seen'), userId)),
    keyChanges: new StoredList(persistence.map(plainKind<KeyChange>('key change'), userId)),
    answers: new StoredList(persistence.map(plainKind<ReceivedAnswer>('shown answer'), userId)),
    unread: persistence.map(plainKind<UnreadMessage>('unread'), userId),
  }
}
