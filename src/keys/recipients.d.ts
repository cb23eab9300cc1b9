import type { CipherSizes } from '../pgp/engine.ts';
import type { KeyList } from './directory.ts';
import type { Pair } from './people.ts';
import type { Unusable } from './person.ts';
import type { Distrust } from './trust.ts';
/** Who gets a message, and who could not. */
export interface Recipients {
    /**
     * Armored certificates, one for each key that is sealed to; the bot's own is not among them. The
     * very same array while the same are chosen from the same list.
     */
    certificates: readonly string[];
    /** Greatest octets that the recipient packets of `certificates` take. */
    recipientBytes: CipherSizes;
    skipped: Skipped[];
}
/** Somebody who gets nothing, and why. */
export interface Skipped {
    userId: number;
    reason: Unusable | Distrust | NotTheirs;
}
/** A certificate that the service lists for somebody, and that is the bot's or another person's. */
type NotTheirs = 'own-key' | 'other-person';
export interface RecipientRules {
    isPrivate: boolean;
    /** Whose private chat it is; null while that is not known, and for any other chat. */
    personId: number | null;
    /** `skip` sends to the others; `refuse` sends to nobody (setting `seal.unusableRecipient`). */
    unusable: 'skip' | 'refuse';
    botId: number | null;
    /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
    own: ReadonlySet<string>;
    /** Whether the operator has named somebody else as a certificate's owner. */
    isOthers: (pair: Pair) => boolean;
    /** Another number whenever `isOthers` or `distrust` may say otherwise than before. */
    epoch: number;
    /** Why somebody's certificate waits for the operator's word in this chat; null when it does not. */
    distrust: (userId: number, fingerprint: string | null) => Distrust | null;
}
/**
 * Chooses the recipients of one message from a chat's key list, person by person: what one
 * publishes harms nobody else (DESIGN: Sealing). Who lists a key of the bot's, or a certificate
 * that the operator knows as another's, has none of their own: they are left out and named whatever
 * `unusable` says, or any member could silence a group.
 * @throws Refusal `postern_seal_too_large` when nobody was judged because no message fits so many,
 *   `postern_recipients_inconsistent` when the list says what no honest service can,
 *   `postern_no_recipient` when it is empty; when nobody is left, or somebody must not be left out,
 *   `postern_trust_required` where the operator's word would help, else `postern_recipient_unusable`
 */
export declare function chooseRecipients(list: KeyList, rules: RecipientRules): Recipients;
/**
 * The one person whom a list names, from which a private chat learns whose it is; null when the
 * list names nobody or several, or contradicts itself.
 */
export declare function solePersonOf(list: KeyList, botId: number | null): number | null;
/** Names at most ten people; ids only. */
export declare function named(skipped: readonly Skipped[]): string;
export {};
