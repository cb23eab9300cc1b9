import { type Lookups } from '../fresh-cache.ts';
import type { KnownKeys } from './known-keys.ts';
import type { Lists } from './lists.ts';
import { type Person, type PersonParts } from './person.ts';
/** What `GET /chats/{chatId}/keys` said, judged. */
export interface KeyList {
    people: Person[];
    /** Records that name nobody: whom they are meant for cannot be known. */
    nameless: number;
    memberCount: number | undefined;
    /** When the first of the certificates that can be sealed to ends, ms since the epoch. */
    lapsesAtMs: number;
    /** How many keys there are, where those are more than fit into any message; none is judged then. */
    tooMany: number | null;
}
/** The calls that the directory makes; both throw ServiceError and NoResponseError. */
export interface DirectoryCalls {
    /** Result of `GET /chats/{chatId}/keys`. */
    chatKeys(chatId: number): Promise<unknown>;
    /** Result of `GET /users/{userId}/key`. */
    userKey(userId: number): Promise<unknown>;
}
/** Other people's certificates: asked of the service, judged, kept for a while. */
export declare class Directory {
    #private;
    constructor(parts: PersonParts & {
        calls: DirectoryCalls;
        lists: Lists;
        knownKeys: KnownKeys;
    });
    /**
     * The key list of a chat, asked for at `sinceMs` or later.
     * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
     */
    keyList(chatId: number, sinceMs: number): Promise<KeyList>;
    /**
     * Whose certificate speaks for a person in a chat: the chat's list first, then the person's own
     * record. Null when the service knows none.
     * @param sinceMs ask again unless asked at this moment or later; absent: ten minutes may be old
     * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
     */
    signer(userId: number, chatId: number, sinceMs?: number): Promise<Person | null>;
    /**
     * An update of a chat showed a person, or a service notice (null): a list that does not have
     * them is dropped, so that the next message reaches them.
     */
    sawPerson(chatId: number, userId: number | null): void;
    /** Whether to ask afresh for a signer: not on and on for somebody whose key does not fit. */
    mayAskAgain(userId: number, chatId: number): boolean;
    /** Asking afresh did not help. */
    askedInVain(userId: number, chatId: number): void;
    /** How often a key list and a person's own record were known, and how often asked for. */
    get lookups(): {
        lists: Lookups;
        people: Lookups;
    };
    /** Drops a chat's list: somebody came, went or changed. */
    forget(chatId: number): void;
    /** Drops everything: the operator has said whose a certificate is. */
    forgetAll(): void;
}
