/** From what the bot said to what may leave (DESIGN: Sealing). Values in, values out. */
import type { Modes } from '../chats/modes.ts';
import type { Seen } from '../chats/seen.ts';
import type { Directory } from '../keys/directory.ts';
import type { Publication } from '../keys/publication.ts';
import type { Recipients } from '../keys/recipients.ts';
import type { Outbound } from '../permit.ts';
import type { Engine } from '../pgp/engine.ts';
import { type Draft } from './draft.ts';
import { type Guard } from './guard.ts';
import { type RecipientParts } from './recipient-choice.ts';
/** What leaves, and for whom; `recipients` is null when nothing was sealed. */
export interface Prepared {
    outbound: Outbound;
    recipients: Recipients | null;
    sealMs: number;
    /**
     * To be called when it was answered, or will not leave: until then no other key is published
     * than the one it is signed with.
     */
    leave: () => void;
}
export interface OutgoingParts extends RecipientParts {
    guard: Guard;
    modes: Modes;
    directory: Directory;
    /** Null when the sidecar manages no key (`key.publish: false`). */
    publication: Publication | null;
    engine: Engine;
    /** Null when there is no key to open with. */
    seen: Seen | null;
    /** Result of `GET /chats/{chatId}`, asked afresh. */
    chat: (chatId: number) => Promise<unknown>;
    armoredMax: () => number;
    /** Setting `cache.keyListSeconds`, in ms. */
    keyListMaxAgeMs: number;
}
export declare class Outgoing {
    #private;
    constructor(parts: OutgoingParts);
    /**
     * Makes a draft ready to leave: as it is into a readable chat, sealed into a protected one.
     * @throws Refusal with Postern's codes; ServiceError and NoResponseError from calls of our own
     */
    prepare(draft: Draft): Promise<Prepared>;
    /**
     * The service refused the kind of body. Expecting `armored` for readable text: the chat is
     * latched, and what is given leaves in its place, once. Expecting `text` for a sealed body is a
     * request to downgrade, and is never followed.
     * @param code the service's code, @param expected its field
     * @returns null when the service's answer stands as it is
     */
    reconsider(draft: Draft, prepared: Prepared, said: {
        code: string;
        expected: string | undefined;
    }): Promise<Prepared | null>;
    /** What is remembered of a chat may be wrong: the service refused us there. */
    doubt(chatId: number): void;
}
