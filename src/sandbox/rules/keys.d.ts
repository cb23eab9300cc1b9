import type { BotState, ChatState, PersonState, PublishedKey } from '../state.ts';
import type { World } from '../world.ts';
/** A key record of an answer, in the shape that DESIGN 5 chooses where the spec leaves it open. */
export interface KeyView extends PublishedKey {
    userId: number;
}
export declare function keyView(userId: number, key: PublishedKey): KeyView;
/** The key that a person or a bot published, or null. */
export declare function publishedKey(world: World, userId: number): PublishedKey | null;
/**
 * Publishes a bot's key: from now on its private chats are encrypted and every phone learns the
 * fingerprint. Under the fault `late-key` this happens only after its `delayMs`.
 */
export declare function publishBotKey(world: World, bot: BotState, key: PublishedKey): void;
/** Sets a bot's key; null removes it, as the owner can. */
export declare function setBotKey(world: World, bot: BotState, key: PublishedKey | null): void;
export declare function setPersonKey(world: World, person: PersonState, key: PublishedKey): void;
/**
 * The keys of an encrypted chat's members, without the account that asks, other bots in privacy
 * mode, and members with no key (spec, GET /chats/{id}/keys).
 */
export declare function listedKeys(world: World, chat: ChatState, askerId: number): KeyView[];
