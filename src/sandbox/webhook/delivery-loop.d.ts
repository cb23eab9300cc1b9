import type { BotState } from '../state.ts';
import type { World } from '../world.ts';
/** Sets or replaces a bot's webhook. Deliveries begin at once; a poll in progress ends. */
export declare function setWebhook(world: World, bot: BotState, o: {
    url: string;
    secret: string | null;
}): void;
/** Starts deliveries to the bot's webhook; earlier ones end. */
export declare function startDelivering(world: World, bot: BotState): void;
/** Ends deliveries and forgets the webhook. A delivery in progress is aborted; its update stays queued. */
export declare function removeWebhook(bot: BotState): void;
