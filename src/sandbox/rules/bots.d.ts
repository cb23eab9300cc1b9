import type { BotState, OwnerNotice } from '../state.ts';
import type { World } from '../world.ts';
/** A token of the spec's shape: `sandbox_<bot_id>.<43 characters>`; random unless `secret` is given. */
export declare function newToken(botId: number, secret?: string): string;
/** Revokes the token. A poll in progress ends; every later call is answered `unauthorized`. */
export declare function revokeToken(world: World, bot: BotState): void;
/** Records a notice to the owner, which the app would show. */
export declare function notifyOwner(world: World, bot: BotState, kind: OwnerNotice['kind']): void;
/** The owner issues a new token in the console; the one before is replaced. */
export declare function issueToken(bot: BotState): string;
/** The owner pauses the bot. Updates go on queueing; deliveries wait. */
export declare function pause(bot: BotState): void;
export declare function resume(bot: BotState): void;
