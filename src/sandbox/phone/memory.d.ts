import { type Persistence } from '../persistence/persistence.ts';
import type { KeyChange, InboxEntry, ReceivedAnswer } from './phone.ts';
import type { StoredMessage } from '../state.ts';
/** A message that was received and is not opened yet, as it was when received. */
export interface UnreadMessage {
    chatId: number;
    message: StoredMessage;
    edited: boolean;
}
/** A list that is stored; entries are only appended. */
export declare class StoredList<V> {
    #private;
    readonly all: V[];
    constructor(stored: Map<number, V>);
    push(entry: V): void;
}
/** Everything that a phone stores beside its keys. */
export interface PhoneMemory {
    inbox: StoredList<InboxEntry>;
    keyChanges: StoredList<KeyChange>;
    answers: StoredList<ReceivedAnswer>;
    /** By increasing numbers. */
    unread: Map<number, UnreadMessage>;
}
export declare function openPhoneMemory(persistence: Persistence, userId: number): PhoneMemory;
