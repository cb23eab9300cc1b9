import { plainKind, type Persistence } from '../persistence/persistence.ts'
import type { KeyChange, Seen, ReceivedAnswer } from './phone.ts'
import type { StoredMessage } from '../state.ts'

/** A message that came and is not shown yet, as it was when it came. */
export interface UnreadMessage {
  chatId: number
  message: StoredMessage
  edited: boolean
}

/** A list that grows at its end, and is kept. */
export class Notes<V> {
  readonly all: V[]
  readonly #kept: Map<number, V>

  constructor(kept: Map<number, V>) {
    this.#kept = kept
    this.all = [...kept.values()]
  }

  push(note: V): void {
    this.#kept.set(this.all.length, note)
    this.all.push(note)
  }
}

/** All that a phone remembers beside its keys. */
export interface PhoneMemory {
  inbox: Notes<Seen>
  keyChanges: Notes<KeyChange>
  answers: Notes<ReceivedAnswer>
  /** By growing numbers. */
  unread: Map<number, UnreadMessage>
}

export function openPhoneMemory(persistence: Persistence, userId: number): PhoneMemory {
  return {
    inbox: new Notes(persistence.map(plainKind<Seen>('seen'), userId)),
    keyChanges: new Notes(persistence.map(plainKind<KeyChange>('key change'), userId)),
    answers: new Notes(persistence.map(plainKind<ReceivedAnswer>('shown answer'), userId)),
    unread: persistence.map(plainKind<UnreadMessage>('unread'), userId),
  }
}
