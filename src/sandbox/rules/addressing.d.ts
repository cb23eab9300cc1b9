import type { BotState } from '../state.ts';
/**
 * Whether a text is addressed to a bot (spec, What the service does, 6): it begins with a command
 * that names the bot or no bot, or mentions it. Replies are not looked at here. The service applies
 * this in readable groups, the sender's phone in encrypted ones.
 */
export declare function isAddressed(text: string, bot: Pick<BotState, 'username'>): boolean;
