import type { ChatMode } from '../../api/chat.ts';
import type { BotState, ChatState, PersonState } from '../state.ts';
import type { World } from '../world.ts';
/** The two members of a private chat. @throws Error when the chat is not private */
export declare function parties(world: World, chat: ChatState): {
    person: PersonState;
    bot: BotState;
};
/** The mode that the service claims and applies: the true one, unless the fault `claim-mode` is set. */
export declare function modeOf(world: World, chat: ChatState): ChatMode;
/**
 * A private chat is encrypted when its bot has a key. A group or channel is readable when its
 * history is open, and encrypted otherwise (spec, What the service does, 4).
 */
export declare function trueMode(world: World, chat: ChatState): ChatMode;
