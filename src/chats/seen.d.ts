import type { Store } from '../store/store.ts';
/** How long what was signed is remembered, in ms; an older signature counts as replayed. */
export declare const SEEN_FOR_MS: number;
/** A message or an attachment as what was opened claims to be. */
export interface Sighting {
    chatId: number;
    /**
     * The update that brought it as its own Message; null for what another Message carries, for an
     * attachment, and for what we sealed.
     */
    updateId: number | null;
    /** Null for a quotation that names no message, and for what we sealed, not numbered yet. */
    messageId: number | null;
    /** Of an attachment, whichever message it came with; absent for a message. */
    mediaId?: string;
    userId: number | null;
    /** When the Message says that it was written, ms since the epoch; null for an attachment. */
    dateMs: number | null;
    /** SHA-256 of the de-framed encrypted data, hex. */
    dataDigest: string;
    /** Digest of the statement that was verified, hex; null when nothing was. */
    signatureDigest: string | null;
}
/**
 * What the memory says of something: `again`: it is what was seen before, asked for again or
 * quoted; `replayed`: its data or a signature of it was seen as something else; `new`.
 */
export type Recognition = 'new' | 'again' | 'replayed';
/** Asked within a batch's one transaction, in the order of its messages. */
export interface SeenCheck {
    /** @param signatureDigests of all statements that it claims to carry, hex */
    recognize(sighting: Thing, signatureDigests: readonly string[]): Promise<Recognition>;
    /** Remembers it as delivered. @param as what `recognize` said of it */
    remember(sighting: Sighting, as: Exclude<Recognition, 'replayed'>): Promise<void>;
}
/**
 * What was opened before, under keyed hashes: the memory against replays (DESIGN: Opening). A
 * Message happens once: data belongs to one chat, sender, message and update. A signature belongs
 * to one chat and sender, and may stand on other data twice more within a minute, since Ed25519
 * signs the same words within a second alike.
 */
export declare class Seen {
    #private;
    private constructor();
    /** @throws Refusal `postern_locked` when the store has no protection */
    static load(store: Store): Promise<Seen>;
    /** Whether a signature of this date would be remembered if it had been seen. */
    reaches(createdMs: number): boolean;
    /**
     * Runs one batch against the memory; what it remembers is on disk when this resolves.
     * @throws Refusal `postern_store_unwritable`, with nothing remembered
     */
    batch<T>(judge: (check: SeenCheck) => Promise<T>): Promise<T>;
    /**
     * Forgets what was signed once its signatures count as replayed anyway, and unsigned data once no
     * key is left that could open it. To be asked only while our clock is right: one that has jumped
     * ahead would forget what is still needed.
     * @param keysSinceMs when the oldest key was made that still opens; null: keep all unsigned data
     */
    prune(keysSinceMs: number | null): Promise<void>;
}
type Thing = Omit<Sighting, 'signatureDigest'>;
export {};
