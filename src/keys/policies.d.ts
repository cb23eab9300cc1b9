import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';
/** What a changed certificate of a person does (setting `trust.policy`). */
export declare const TRUST_POLICIES: readonly ['accept', 'first-use', 'pinned'];
export type TrustPolicy = (typeof TRUST_POLICIES)[number];
/** The policy of the bot and of single chats, changeable while the sidecar runs. */
export declare class Policies {
    #private;
    /** How often a policy was changed since the start. */
    changes: number;
    private constructor();
    static load(o: {
        store: Store;
        journal: Journal;
        setting: TrustPolicy;
    }): Promise<Policies>;
    /** The policy that counts in a chat: its own, else the bot's. */
    for(chatId: number): TrustPolicy;
    /** The bot's: what the operator said by command, else the setting. */
    get bot(): TrustPolicy;
    /** What was said by command, chat by chat; the bot itself has no chat. */
    get said(): {
        chatId: number | null;
        policy: TrustPolicy;
    }[];
    /**
     * Sets the policy of a chat, or of the bot.
     * @param chatId null for the bot, @param policy null takes back what was said before
     * @throws Refusal `postern_store_unwritable`
     */
    set(chatId: number | null, policy: TrustPolicy | null): Promise<void>;
}
