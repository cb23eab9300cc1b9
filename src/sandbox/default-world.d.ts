import type { Control } from './control/table.ts';
/** The accounts and chats of the default world. */
export interface Home {
    bot: {
        id: number;
        username: string;
        token: string;
    };
    alice: {
        id: number;
        username: string;
    };
    bob: {
        id: number;
        username: string;
    };
    /** Alice with the bot. */
    privateChat: number;
    /** Alice, bob and the bot; open history. */
    readableGroup: number;
    /** Alice, bob and the bot. */
    encryptedGroup: number;
}
/** Fills an empty world: one bot, two people, a private chat, and one group of each mode. */
export declare function createDefaultWorld(control: Control): Promise<Home>;
