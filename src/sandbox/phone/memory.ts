import type { Persistence } from '../persistence/persistence.ts'
import type { SeenEvent } from './seen.ts'
import type { PublishedKey, StoredMessage } from '../state.ts'

/** Something that a phone received, with the time of the sandbox's clock. */
export type ReceivedEvent = UnreadMessage | { seen: UnnumberedEvent }

/** A message that is not opened yet, as it was when received. */
export interface UnreadMessage {
  chatId: number
  message: StoredMessage
  edited: boolean
  /** The sender's key as it was published then, by which it is verified however late it is opened. */
  senderKey: PublishedKey | null
  at: number
}

/** What a phone shows, before it has its number. */
export type UnnumberedEvent = Unnumbered<SeenEvent>
type Unnumbered<E> = E extends unknown ? Omit<E, 'n'> : never

/** A list of events that is stored; they are only appended, and numbered from 1. */
export class SeenList {
  readonly all: SeenEvent[]
  readonly #stored: Map<number, SeenEvent>

  constructor(stored: Map<number, SeenEvent>) {
    this.#stored = stored
    this.all = [...stored.values()]
  }

  push(event: UnnumberedEvent): void {
    const seen = { n: this.all.length + 1, ...event }
    this.#stored.set(seen.n, seen)
    this.all.push(seen)
  }
}

/** Everything that a phone stores beside its keys. */
export interface PhoneMemory {
  seen: SeenList
  /** Events that are not shown yet, by ascending numbers. */
  unread: Map<number, ReceivedEvent>
}

export function openPhoneMemory(persistence: Persistence, userId: number): PhoneMemory {
  return {
    seen: new SeenList(persistence.map('shown', userId)),
    unread: persistence.map('unread', userId),
  }
}
