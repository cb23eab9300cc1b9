/**
 * The bot says something: prepared, handed to the service, reconsidered where the service refuses
 * the kind of body, and answered as in a readable chat.
 */
import type { Outcomes } from '../chats/outcomes.ts';
import type { Envelope } from '../api/envelope.ts';
import type { RawAnswer } from '../errors.ts';
import type { Outbound } from '../permit.ts';
import type { Draft } from './draft.ts';
import type { Outgoing } from './outgoing.ts';
/** An answer of the service in its envelope. */
export type EnvelopedAnswer = RawAnswer & {
    envelope: Envelope;
};
export interface MessagesParts<A extends EnvelopedAnswer> {
    outgoing: Outgoing;
    /** Makes the call; throws NoResponseError. */
    send: (outbound: Outbound) => Promise<A>;
    /** The same for an edit. */
    edit: (outbound: Outbound) => Promise<A>;
    /** Remembers to whom a message was sealed. */
    outcomes: Pick<Outcomes, 'sent'>;
    /** Called for every message that was sealed and taken by the service. */
    onSealed: (sealed: SealedMessage) => void;
}
/** What became of a sealed message; `ms` is what sealing took. */
export interface SealedMessage {
    chatId: number;
    recipients: number;
    skipped: {
        userId: number;
        reason: string;
    }[];
    ms: number;
}
export declare class Messages<A extends EnvelopedAnswer> {
    #private;
    constructor(parts: MessagesParts<A>);
    /**
     * Sends or edits a message.
     * @returns the service's answer as the bot sees it, whether it took the message or not
     * @throws Refusal, ServiceError and NoResponseError as `Outgoing.prepare` and the calls do
     */
    deliver(draft: Draft): Promise<A>;
}
