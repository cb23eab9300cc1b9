import type { Directory } from '../keys/directory.ts';
import type { Keyring } from '../keys/keyring.ts';
import { type KnownKeys } from '../keys/known-keys.ts';
import type { NamedRecipients } from '../pgp/engine.ts';
import type { Judged, Opened } from './signatures.ts';
export interface AudienceParts {
    directory: Pick<Directory, 'keyList' | 'signer' | 'mayAskAgain' | 'askedInVain'>;
    keyring: Pick<Keyring, 'unlocked' | 'fingerprints'>;
    knownKeys: Pick<KnownKeys, 'ownersOf'>;
    facts: {
        isPrivate(chatId: number): boolean;
        personOf(chatId: number): number | null;
    };
    botId: () => number | null;
    /** Setting `open.audience`. */
    audience: 'check' | 'off';
}
/** To whom something is sealed, and where it was found. */
export interface Addressed {
    recipients: NamedRecipients;
    /** Fingerprints that the verified signature names as recipients; empty: it names none. */
    intended: readonly string[];
    chatId: number;
    fromId: number | null;
    /** When it reached us (a `moment`): what was asked later counts as asked afresh. */
    receivedAtMs: number;
}
/**
 * Whether something that was opened was written for another chat. Of a group: all recipients can be
 * seen, and once our keys and the sender's are taken away, nobody of the group is among them. Of a
 * private chat: a third person is among them. Recipients who are not named, and keys that nobody
 * was seen with, tell nothing. Recipient packets are not authenticated: a service that adds a
 * made-up one gets past this, unless the signature names its recipients.
 * @throws ServiceError, NoResponseError, Refusal when the people of the chat cannot be asked for
 */
export declare function isForOtherChat(message: Addressed, parts: AudienceParts): Promise<boolean>;
/**
 * What was judged by its signatures, and whether it was written for another chat. Where the people
 * of the chat cannot be asked for, what would be delivered is not.
 */
export declare function judgeAudience(judged: Judged, opened: Opened & {
    recipients: NamedRecipients;
}, place: Omit<Addressed, 'recipients' | 'intended'>, parts: AudienceParts): Promise<{
    judged: Judged;
    isForOtherChat: boolean;
}>;
