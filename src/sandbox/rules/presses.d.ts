import type { BotState, ChatState, PressState, StoredMessage } from '../state.ts';
import type { World } from '../world.ts';
/**
 * A person presses a button that has `callbackData`: a `callback_query` for the bot. A second
 * press of the same person on the same message while the first is open is the same press.
 */
export declare function press(world: World, o: {
    bot: BotState;
    chat: ChatState;
    message: StoredMessage;
    userId: number;
    data: string;
}): PressState;
