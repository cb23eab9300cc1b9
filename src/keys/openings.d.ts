/** What each of our keys has opened, so that an operator sees when an old one is done. */
import type { Store } from '../store/store.ts';
export type OpenedKind = 'message' | 'media';
/** What a key has opened in all; `lastAtMs` in ms since the epoch, null: nothing yet. */
export interface KeyOpenings {
    messages: number;
    media: number;
    lastAtMs: number | null;
}
export declare class Openings implements AsyncDisposable {
    #private;
    private constructor();
    static load(store: Store): Promise<Openings>;
    /** @param fingerprint of the primary key */
    of(fingerprint: string): KeyOpenings;
    /** Counts something that a key has opened; redelivered updates count each time. */
    note(fingerprint: string, kind: OpenedKind): void;
    /** Writes what was counted; what cannot be written now is written with the next. */
    flush(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
