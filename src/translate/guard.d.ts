/**
 * The guard: the one place that decides whether a body may leave, and the only maker of what the
 * upstream client takes for a send or an edit (DESIGN: The guard).
 */
import type { Facts } from '../chats/facts.ts';
import type { Modes } from '../chats/modes.ts';
import { Sealed } from '../pgp/sealed.ts';
import { type Outbound, type Target } from '../permit.ts';
/** How the chat must be written to; made by `Guard.rule` alone. */
declare class ChatRule {
    #private;
    readonly chatId: number;
    readonly body: 'sealed' | 'readable';
    /** False once something was learned that forbids it. */
    readonly holds: () => boolean;
    constructor(chatId: number, body: 'sealed' | 'readable', holds?: () => boolean);
    static isReal(value: unknown): boolean;
}
export type Rule = ChatRule;
export interface GuardParts {
    facts: Facts;
    modes: Modes;
    /** Whether private chats are protected whatever the service says: from our first key on. */
    privateProtected(): boolean;
    /** False for a sidecar without a key: then the service's word for open is taken as it is. */
    sealsForBot: boolean;
    /** Setting `readableGroups`. */
    readableGroups: 'allow' | 'refuse';
    /** Setting `cache.chatSeconds`, in ms. */
    chatMaxAgeMs: number;
}
export declare class Guard {
    #private;
    constructor(parts: GuardParts);
    /**
     * How a chat must be written to. Readable only by an answer of the service that is no older than
     * the setting; what was seen private or protected is never asked.
     * @throws Refusal `postern_downgrade_refused`; ServiceError and NoResponseError when the mode cannot
     *   be learned
     */
    rule(chatId: number): Promise<Rule>;
    /** Whether a chat takes no readable text by what we remember of it. */
    mustSeal(chatId: number): boolean;
}
/**
 * Lets a sealed body leave. Takes the other fields of the send or edit.
 * @param sealed what sealing made, or what a bot that does its own sealing gave
 * @throws Refusal `bad_request` when it is not an encrypted message
 */
export declare function permitSealed(target: Target, fields: {
    chatId: number;
    [name: string]: unknown;
}, sealed: Sealed | string): Outbound;
/** Lets readable text leave, for a chat that the guard ruled readable. */
export declare function permitReadable(rule: Rule, target: Target, fields: {
    chatId: number;
    [name: string]: unknown;
}): Outbound;
/** Lets an edit of the buttons alone leave: it has no body, and buttons are never encrypted. */
export declare function permitMarkup(target: Target, fields: {
    chatId: number;
    markup: unknown;
}): Outbound;
export {};
