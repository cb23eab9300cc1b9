/** Opening messages of the common form natively; all others are the library's. */
import type { RecipientKey } from '../crypto/algorithm.ts';
import { type RecipientForm } from '../crypto/recipient.ts';
import type { Opened, UnlockedKey } from '../engine.ts';
import type { EncryptedMessage } from '../format/encrypted-message.ts';
import type { ScannedRecipients } from '../format/recipient-scan.ts';
import type { FoundKey } from '../library/open.ts';
import { type NativeOwnKey, type NativeOwnKeys, type OwnSecret } from './own-keys.ts';
/** The recipient packet that names a key of ours, and that key. */
interface NamedPacket {
    form: RecipientForm;
    key: UnlockedKey;
}
/** The same, with what opens it. */
interface OwnRecipient {
    form: RecipientForm;
    secret: OwnSecret<RecipientKey>;
    openedWith: string;
    own: NativeOwnKey;
}
/** A message that can be opened natively. */
export interface BegunMessage {
    encrypted: EncryptedMessage;
    recipient: OwnRecipient;
}
/**
 * Opens what was parsed of a message, in the steps below.
 * @returns null, before anything was decrypted or after all of it held, where the form is not the
 *   common one; what fails to decrypt is damaged, and nobody else is asked
 */
export declare function openNatively(encrypted: EncryptedMessage, keys: UnlockedKey[], own: NativeOwnKeys): Promise<Opened | null>;
/** Finds the key to open a message with; null where the form is not the common one. */
export declare function nameIn(encrypted: EncryptedMessage, keys: UnlockedKey[]): NamedPacket | null;
/** @param known of that key. @returns null where it does not open natively what is so sealed */
export declare function begin(encrypted: EncryptedMessage, named: NamedPacket, known: NativeOwnKey | null): BegunMessage | null;
/** Finds what our key and the sender's point share: most of the work. */
export declare function agree({ recipient }: BegunMessage): Buffer | null;
/**
 * Does the rest.
 * @param shared of `agree`
 * @returns as `openNatively`
 */
export declare function finish({ encrypted, recipient }: BegunMessage, shared: Buffer | null): Opened | null;
/**
 * Gives the session key of an attachment that a recipient packet holds for us, or none when it does
 * not open.
 * @returns null where the form is not the common one: then the library must be asked
 */
export declare function unwrapNatively(recipients: ScannedRecipients, keys: UnlockedKey[], own: NativeOwnKeys): Promise<FoundKey[] | null>;
export {};
