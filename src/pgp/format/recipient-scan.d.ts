import type { NamedRecipients, NotOpened } from '../engine.ts';
/** Whose message it may be: ids and fingerprints of our keys and subkeys, lower-case hex. */
export interface OwnIds {
    keyIds: ReadonlySet<string>;
    fingerprints: ReadonlySet<string>;
    /** How many own keys an anonymous packet would be tried with. */
    keyCount: number;
}
/** The recipient packets that are worth trying, each framed. */
export interface ScannedRecipients {
    recipientPackets: Uint8Array[];
    /** True when they name one of our keys, false when they name nobody. */
    named: boolean;
    recipients: NamedRecipients;
}
/** Takes recipient packets one by one; what is not for us costs a comparison and nothing else. */
export declare class RecipientScan {
    #private;
    constructor(own: OwnIds);
    /** How many recipient packets there were, for whomever. */
    get count(): number;
    get hasTooMany(): boolean;
    /**
     * Passes over recipient packets of version 3 that name others, as programs write them, from `at`
     * on: in a large group they are nearly all that there is. @returns where another packet begins
     */
    skipOthers(bytes: Uint8Array, at: number): number;
    /** Adds the body of one recipient packet; of a kind that is for a passphrase, only the count. */
    add(tag: number, body: Uint8Array): void;
    /** What to try, or that none of it can be ours. */
    candidates(): ScannedRecipients | NotOpened;
}
