import type { Store } from '../store/store.ts';
/** What became of one Message of an update; nothing of what it says. Times are ms since epoch. */
export interface Outcome {
    updateId: number;
    atMs: number;
    /** ms that it took to open and judge it; null once it was read from the disk. */
    tookMs: number | null;
    chatId: number | null;
    messageId: number | null;
    userId: number | null;
    /** One of DESIGN's verdicts. */
    verdict: string;
    reason: string | null;
    /** Its text was given to the bot. */
    delivered: boolean;
    /** Fingerprint of our key that opened it. */
    openedWith: string | null;
    /** Fingerprint of the certificate that verified it. */
    signer: string | null;
}
/** What became of one message of the bot's. */
export interface Sent {
    messageId: number;
    atMs: number;
    chatId: number;
    /** People sealed to. */
    recipients: number;
    skipped: {
        userId: number;
        reason: string;
    }[];
}
/**
 * Remembers for a while what became of messages, for `postern explain`. Written a little later and
 * in one go: nothing waits for it, and what a crash takes from it is no loss to anybody's words.
 */
export declare class Outcomes implements AsyncDisposable {
    #private;
    constructor(store: Store);
    /** Remembers what became of the Messages of an answer's updates. */
    received(outcomes: readonly Outcome[]): void;
    /** Remembers to whom a message of the bot's was sealed. */
    sent(sent: Sent): void;
    /** What became of an update's Messages; empty when nothing is remembered. */
    ofUpdate(updateId: number): Promise<Outcome[]>;
    /** What became of a message of the bot's; null when nothing is remembered. */
    ofMessage(messageId: number): Promise<Sent | null>;
    [Symbol.asyncDispose](): Promise<void>;
}
