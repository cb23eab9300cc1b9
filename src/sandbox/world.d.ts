import type { WorldClock, ClockState } from './clock.ts';
import type { Faults } from './faults/faults.ts';
import { type Persistence } from './persistence/persistence.ts';
import type { BotRecord, BotState, ChatState, PersonState, WorldEvent } from './state.ts';
import type { Transcript } from './transcript.ts';
import type { RateWindows } from './rules/rate-windows.ts';
import type { IdCounter } from './update-queue.ts';
/** Choices that change what the service enforces. */
export interface WorldRules {
    /** `spec`: every rate window of the limits table. `off`: none, for benchmarks. */
    rates: 'spec' | 'off';
    /** `public`: https and public addresses, as the spec says. `local`: http and any address too. */
    webhooks: 'public' | 'local';
    /** Gives every address of a host name. */
    resolveHost: (host: string) => Promise<string[]>;
}
/** Who or what has a handle: people, bots, groups and channels share one name space. */
export type HandleOwner = {
    account: number;
} | {
    chat: number;
};
/** First ids. The ranges are far apart, and chat ids do not fit into 32 bits. */
declare const FIRST_IDS: {
    readonly person: 41000001;
    readonly bot: 82000001;
    readonly chat: 9100000001;
};
/** Key of the one clock in its map. */
export declare const CLOCK_KEY = "clock";
/** The whole service: its accounts, chats and files, its clock, and its transcript. */
export declare class World {
    #private;
    readonly clock: WorldClock;
    readonly rules: WorldRules;
    readonly transcript: Transcript;
    readonly faults: Faults;
    readonly persistence: Persistence;
    /** False when a file held it already. */
    readonly isNew: boolean;
    readonly people: Map<number, PersonState>;
    readonly bots: Map<number, BotState>;
    readonly chats: Map<number, ChatState>;
    /** By handle in lower case. */
    readonly handles: Map<string, HandleOwner>;
    /** By media id. */
    readonly files: Map<string, Uint8Array>;
    /** Rate windows of callers' addresses. */
    readonly addresses: RateWindows;
    /** Aborted when the sandbox closes. */
    readonly closing: AbortController;
    constructor(parts: {
        clock: WorldClock;
        rules: WorldRules;
        transcript: Transcript;
        faults: Faults;
        persistence: Persistence;
        isNew: boolean;
        /** Where the clock is stored. */
        clocks: Map<string, ClockState>;
    });
    /** Moves the clock forward by milliseconds. */
    advance(ms: number): void;
    addBot(record: BotRecord): BotState;
    /** A chat with nobody in it; a group or channel without open history is encrypted. */
    addChat(kind: ChatState['kind']): ChatState;
    /** The next id of its range. */
    nextId(kind: keyof typeof FIRST_IDS): number;
    /** The counter of an id range, or of a bot's updates. */
    counter(of: string): IdCounter;
    /** A random id for presses and files: 22 characters of base64url. */
    randomId(): string;
    /** Stores a file, byte for byte, under a new id. It is served at `/media/<id>`. */
    storeFile(file: Uint8Array): string;
    /** Calls back on every event, until the returned function is called. */
    onEvent(listener: (event: WorldEvent) => void): () => void;
    emit(event: WorldEvent): void;
}
export {};
