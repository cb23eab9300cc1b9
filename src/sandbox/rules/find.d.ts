import type { BotState, ChatState, StoredMessage } from '../state.ts';
import type { World } from '../world.ts';
/** An id in a path, or null when it is no integer. */
export declare function pathId(text: string | undefined): number | null;
/** @throws SandboxApiError `chat_not_found`, whether there is no such chat or the bot is not in it */
export declare function findChat(world: World, bot: BotState, id: number | null): ChatState;
/** @throws SandboxApiError `message_not_found`, also for what was there before the bot arrived */
export declare function findMessage(chat: ChatState, bot: BotState, id: number | null): StoredMessage;
/** Whether two accounts are members of the same chat. */
export declare function haveCommonChat(world: World, one: number, other: number): boolean;
