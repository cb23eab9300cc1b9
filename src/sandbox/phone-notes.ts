import { plain, type Keep } from './keep/keep.ts'
import type { KeyChange, Seen, ShownAnswer } from './phone.ts'
import type { StoredMessage } from './state.ts'

/** A message that came and is not shown yet, as it was when it came. */
export interface Unread {
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
export interface PhoneNotes {
  inbox: Notes<Seen>
  keyChanges: Notes<KeyChange>
  answers: Notes<ShownAnswer>
  /** By growing numbers. */
  unread: Map<number, Unread>
}

export function phoneNotes(keep: Keep, userId: number): PhoneNotes {
  return {
    inbox: new Notes(keep.map(plain<Seen>('seen'), userId)),
    keyChanges: new Notes(keep.map(plain<KeyChange>('key change'), userId)),
    answers: new Notes(keep.map(plain<ShownAnswer>('shown answer'), userId)),
    unread: keep.map(plain<Unread>('unread'), userId),
  }
}
