import { type Persistence, type RecordKind } from './persistence/persistence.ts';
import { RateWindows } from './rules/rate-windows.ts';
import type { BotRecord, BotState, ChatRecord, ChatState } from './state.ts';
import type { World } from './world.ts';
/** The rate windows of an owner: a bot, or all callers' addresses. */
export declare function storedRateWindows(persistence: Persistence, rates: 'spec' | 'off', owner: string): RateWindows;
/** A bot is stored as its record. Its queue, commands and so on are maps of their own. */
export declare function botKind(world: World): RecordKind<BotState>;
/** A chat is stored without its members and messages, which are maps of their own. */
export declare function chatKind(persistence: Persistence): RecordKind<ChatState>;
/** Adds the maps and the queue of a bot to its record. */
export declare function restoreBot(world: World, record: BotRecord): BotState;
/** Adds the maps of a chat to its record. */
export declare function restoreChat(persistence: Persistence, record: ChatRecord): ChatState;
