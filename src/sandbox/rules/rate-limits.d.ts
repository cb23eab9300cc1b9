import type { BotState, ChatState } from '../state.ts';
import type { World } from '../world.ts';
/** Checks, without counting, that an address may call once more. @throws SandboxApiError `rate_limited` */
export declare function requireAddressRate(world: World, address: string): void;
/** Checks, without counting, that a bot may call once more. @throws SandboxApiError `rate_limited` */
export declare function requireCallRate(world: World, bot: BotState): void;
/** Counts a call for an address, and for a bot when its token was valid. */
export declare function countCall(world: World, o: {
    address: string;
    bot: BotState | null;
}): void;
/**
 * Checks that a bot may send or edit once more; each has its own windows. Gives a function that
 * counts the use, to be called when nothing can refuse it any more.
 * @throws SandboxApiError `slow_mode` (sends alone) or `flood_wait`
 */
export declare function reserve(world: World, o: {
    bot: BotState;
    chat: ChatState;
    what: 'send' | 'edit';
}): () => void;
/** Checks, without counting, that a bot may look up once more. @throws SandboxApiError `flood_wait` */
export declare function requireLookupRate(world: World, bot: BotState): void;
/** Counts a lookup; one of an unknown handle counts as five. */
export declare function countLookup(world: World, bot: BotState, outcome: 'found' | 'missed'): void;
