import type { Store } from '../store/store.ts';
/** What is remembered of a chat for good. Times are ms since the epoch. */
export interface ChatFacts {
    id: number;
    kind: string;
    /** The one person of a private chat, once learned; null in any other chat. */
    personId: number | null;
    /** Since when it is known to be protected; null: never seen so, or lifted since. */
    latchedAtMs: number | null;
    /** When readable text was last refused for it. */
    refusedAtMs: number | null;
}
/**
 * How many chats are remembered. Forgetting one would loosen it, so beyond these a new chat is not
 * learned, and what must be remembered of it first is refused.
 */
export declare const MOST_CHATS = 250000;
export interface FactsOptions {
    /** `MOST_CHATS` when not given. */
    maxChats?: number;
    /** Called for each chat that was one too many. */
    onFull?: () => void;
}
/**
 * Kinds, latches and the people of private chats (DESIGN: The guard, Sealing). All of them only
 * tighten: a chat once seen private stays private, one once seen as a group is a group or private,
 * a chat once seen protected stays latched until the operator lifts it.
 */
export declare class Facts {
    #private;
    private constructor();
    static load(store: Store, options?: FactsOptions): Promise<Facts>;
    /** Every chat known, by id. */
    get all(): ChatFacts[];
    get(chatId: number): ChatFacts | undefined;
    isPrivate(chatId: number): boolean;
    /** Whose private chat it is, once that was learned; null for any other chat. */
    personOf(chatId: number): number | null;
    isLatched(chatId: number): boolean;
    /** Whether the operator let private chats be readable again. */
    get privateReadable(): boolean;
    /**
     * Chats were seen with these kinds, in updates or answers. One write for all that is new.
     * @throws Refusal `postern_store_unwritable`
     */
    sawKinds(seen: {
        chatId: number;
        kind: string;
    }[]): Promise<void>;
    /**
     * A chat was seen as the service answers for it. One write for all that is new.
     * @throws Refusal `postern_store_unwritable`
     */
    sawChat(seen: {
        chatId: number;
        kind: string;
        isProtected: boolean;
    }): Promise<void>;
    /**
     * Private chats were seen with these people. The first one of a chat is its person for good; in a
     * chat that is not known as private nobody is. One write for all that is new.
     * @throws Refusal `postern_store_unwritable`
     */
    sawPersons(seen: {
        chatId: number;
        userId: number;
    }[]): Promise<void>;
    /**
     * The operator says whose private chat it is, whoever it was taken for before.
     * @returns whether it is a private chat, and known
     * @throws Refusal `postern_store_unwritable`
     */
    setPerson(chatId: number, userId: number): Promise<boolean>;
    /**
     * A chat was seen protected: by its own mode, or by the service's refusal of readable text.
     * @throws Refusal `postern_store_unwritable`
     */
    sawProtected(chatId: number): Promise<void>;
    /** Readable text was refused for a chat; remembered for `chat allow-readable --pending`. */
    refused(chatId: number): Promise<void>;
    /**
     * Lifts latches by the operator's word, once: the next sighting of `protected` latches again.
     * @returns the chats that were latched or refused and are not any more
     */
    lift(chatIds: number[]): Promise<number[]>;
    /** Lets private chats be readable (`true`) or protected again; lifts their latches. */
    setPrivateReadable(choice: {
        readable: boolean;
    }): Promise<number[]>;
}
