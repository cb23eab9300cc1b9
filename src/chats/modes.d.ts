import { type ChatMode } from '../api/chat.ts';
import { type Lookups } from '../fresh-cache.ts';
import type { Facts } from './facts.ts';
/** What the service says of a chat's mode, as far as the guard decides on it. */
export interface ModeAnswer {
    mode: ChatMode;
    /** What it is judged as: its kind by this answer, unless it was seen as a stricter one. */
    kind: string;
    historyVisible: boolean;
}
/** Modes of chats as the service says them, kept for a while; what tightens is remembered. */
export declare class Modes {
    #private;
    /** @param parts `chat` makes the call `GET /chats/{chatId}` and gives its result */
    constructor(parts: {
        facts: Facts;
        chat: (chatId: number) => Promise<unknown>;
    });
    /**
     * The mode by an answer that was asked for at `sinceMs` or later.
     * @throws ServiceError, NoResponseError, Refusal `postern_store_unwritable`
     */
    get(chatId: number, sinceMs: number): Promise<ModeAnswer>;
    /** The same without a call: undefined when nothing so fresh is known. */
    peek(chatId: number, sinceMs: number): ModeAnswer | undefined;
    /**
     * Takes in a result of `GET /chats/{chatId}` that was asked for at `askedAtMs` anyway.
     * @throws NoResponseError, Refusal `postern_store_unwritable`
     */
    observe(chatId: number, result: unknown, askedAtMs: number): Promise<ModeAnswer>;
    /** How often a mode was known, and how often asked for. */
    get lookups(): Lookups;
    forget(chatId: number): void;
}
