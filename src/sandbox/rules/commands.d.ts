import type { Command } from '../../api/command.ts';
import type { BotState, ChatState } from '../state.ts';
import type { World } from '../world.ts';
/** Replaces a scope's list; an empty one does not hide a wider one, so it is not stored. */
export declare function setCommands(bot: BotState, scope: string, commands: Command[]): void;
/**
 * The commands that a person's phone offers for a bot in a chat: the narrowest scope that has
 * any (spec, PUT /commands).
 */
export declare function commandsFor(world: World, o: {
    bot: BotState;
    chat: ChatState;
    userId: number;
}): Command[];
