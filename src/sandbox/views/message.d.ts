import type { BotState, ChatState, StoredMessage } from '../state.ts';
import type { World } from '../world.ts';
interface MessageContext {
    chat: ChatState;
    message: StoredMessage;
    bot: BotState;
}
/**
 * A Message as an update shows it to one bot. `replyTo` holds the quoted message without its own
 * quotation; of a message from before the bot joined it holds the id alone.
 */
export declare function messageView(world: World, context: MessageContext): Record<string, unknown>;
export {};
