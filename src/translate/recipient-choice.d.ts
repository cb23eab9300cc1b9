/** To whom a message into a chat is sealed, by what is known of the chat and its people. */
import type { Facts } from '../chats/facts.ts';
import type { KeyList } from '../keys/directory.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Lists } from '../keys/lists.ts';
import type { People } from '../keys/people.ts';
import { type Recipients } from '../keys/recipients.ts';
import type { Trust } from '../keys/trust.ts';
export interface RecipientParts {
    facts: Facts;
    keyring: Keyring;
    people: People;
    trust: Trust;
    lists: Lists;
    botId: () => number | null;
    /** Setting `seal.unusableRecipient`. */
    unusableRecipient: 'skip' | 'refuse';
}
/**
 * The recipients of a message, by a chat's key list. A private chat is its first person's for good,
 * which is on disk before anything is sealed to them.
 * @throws as `chooseRecipients` does; Refusal `postern_store_unwritable`
 */
export declare function recipientsOf(chatId: number, list: KeyList, parts: RecipientParts): Promise<Recipients>;
