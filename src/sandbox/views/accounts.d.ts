import type { ChatState } from '../state.ts';
import type { World } from '../world.ts';
/** An account as answers show it. */
export interface AccountView {
    id: number;
    username: string;
    firstName: string;
    lastName: string | null;
    isBot: boolean;
}
/** A person or a bot. @throws Error when nobody has the id */
export declare function accountView(world: World, id: number): AccountView;
/** Ids of the bots in a chat. */
export declare function botIds(world: World, chat: ChatState): number[];
/** Ids of the people in a chat. */
export declare function personIds(world: World, chat: ChatState): number[];
