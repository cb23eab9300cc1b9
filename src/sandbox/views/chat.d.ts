import type { BotState, ChatState } from '../state.ts';
import type { World } from '../world.ts';
/** Result of `GET /chats/{chatId}` for one bot. */
export declare function chatView(world: World, chat: ChatState, bot: BotState): Record<string, unknown>;
/** An entry of the member list. */
export declare function memberView(world: World, chat: ChatState, userId: number): Record<string, unknown>;
