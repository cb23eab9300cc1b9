import type { Directory } from '../keys/directory.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { People, SignedKind } from '../keys/people.ts';
import type { Trust } from '../keys/trust.ts';
import type { Seen } from '../chats/seen.ts';
import type { Engine, OpenedFile, OpenedText } from '../pgp/engine.ts';
import { type Passing } from './passing.ts';
import type { Verdict } from './verdict.ts';
/** What the signatures establish, before the memory against replays is asked. */
export interface Judged {
    verdict: Extract<Verdict, 'verified' | 'unsigned' | 'unknown-signer' | 'signer-unavailable' | 'bad-signature' | 'replayed' | 'not-recipient'>;
    reason?: string;
    /** Fingerprint of the certificate that verified. */
    signer?: string;
    /** Digest of the statement that verified. */
    signatureDigest?: string;
    /** The certificate could not be had just now, and asking again soon may help. */
    passing?: Passing;
}
export interface SignatureParts {
    engine: Engine;
    directory: Directory;
    keyring: Keyring;
    people: People;
    trust: Trust;
    botId: () => number | null;
    /** Setting `cache.keyListSeconds`, in ms. */
    keyListMaxAgeMs: number;
    seen: Pick<Seen, 'reaches'>;
}
/** What was opened, as far as its signatures go. */
export type Opened = Pick<OpenedText | OpenedFile, 'signatures' | 'signed'>;
/** Where an opened message or attachment was found. */
export interface Claimed {
    kind: SignedKind;
    chatId: number;
    fromId: number | null;
    /** When the update reached us (a `moment`): what was asked later counts as asked afresh. */
    receivedAtMs: number;
    /** Ends work that nobody waits for any more. */
    signal: AbortSignal;
    /** The same data was opened in the same place before: how old it is does not matter any more. */
    isKnown?: boolean;
}
/** Judges the signatures of an opened message or attachment. Never throws for what a sender can cause. */
export declare function judgeSignatures(opened: Opened, claimed: Claimed, parts: SignatureParts): Promise<Judged>;
/**
 * Why what was judged some time ago does not stand any more: the operator has spoken, or the person
 * has signed, in the meantime. Null where it stands.
 */
export declare function whyNotAnyMore({ verdict, signer }: Judged, { fromId, chatId, kind }: Pick<Claimed, 'fromId' | 'chatId' | 'kind'>, parts: Pick<SignatureParts, 'people' | 'trust' | 'botId'>): Judged | null;
