/** One Message: whether its chat is protected, what is in it, whose it is. No effects yet. */
import type { Facts } from '../chats/facts.ts';
import type { Modes } from '../chats/modes.ts';
import type { OpenedText } from '../pgp/engine.ts';
import { type AudienceParts } from './audience.ts';
import type { FoundMessage } from './find-messages.ts';
import type { Guard } from './guard.ts';
import { type Passing } from './passing.ts';
import { type Judged, type SignatureParts } from './signatures.ts';
import type { Verdict } from './verdict.ts';
/** What was found out about a Message. */
export type Finding = {
    kind: 'untouched';
}
/** An `armored` in a readable chat: somebody's words, delivered as text. */
 | {
    kind: 'words';
}
/** Readable text where it should not be, or whose chat's mode cannot be learned. */
 | {
    kind: 'plain';
    verdict: Extract<Verdict, 'plaintext-in-protected' | 'before-key' | 'mode-unknown' | 'bad-signature'>;
    reason?: string;
} | {
    kind: 'closed';
    verdict: Verdict;
    reason?: string;
}
/** `isForOtherChat` counts where the memory does not know the message as one of this chat. */
 | {
    kind: 'opened';
    opened: OpenedText;
    judged: Judged;
    isForOtherChat: boolean;
};
/** A finding; `passing` when asking the service again soon may give a better one. */
export interface Examined {
    finding: Finding;
    passing: Passing | null;
}
export interface ExamineParts extends SignatureParts, Omit<AudienceParts, keyof SignatureParts> {
    facts: Facts;
    modes: Modes;
    guard: Guard;
}
/** When a batch reached us, and what ends work on it that nobody waits for. */
export interface Arrival {
    /** A `moment`. */
    receivedAtMs: number;
    signal: AbortSignal;
}
/** Examines one Message. */
export declare function examine(found: FoundMessage, arrival: Arrival, parts: ExamineParts): Promise<Examined>;
export declare const OTHER_PERSON: {
    readonly verdict: 'bad-signature';
    readonly reason: 'other-person';
};
/** A private chat has one person: nobody else writes, sends files or presses there, but the bot. */
export declare function isByStranger({ chatId, fromId, pressedById }: Pick<FoundMessage, 'chatId' | 'fromId' | 'pressedById'>, { facts, botId }: Pick<AudienceParts, 'facts' | 'botId'>): boolean;
