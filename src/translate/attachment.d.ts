import type { MediaPlace, NamedMedia } from '../chats/named-media.ts';
import type { Modes } from '../chats/modes.ts';
import type { Seen } from '../chats/seen.ts';
import type { Room } from '../pgp/stream/raw-file.ts';
import { type RestingFile } from '../pgp/stream/resting.ts';
import { type AudienceParts } from './audience.ts';
import type { Guard } from './guard.ts';
import { type SignatureParts } from './signatures.ts';
import { type Verdict, type VerifyPolicy } from './verdict.ts';
/** A file as the bot gets it, whole and checked. */
export interface Attachment {
    file: RestingFile;
    contentType: string;
    /** The same for the same content as long as it is kept, and of what was opened for ever. */
    tag: string;
    /** Null for what is given as it is stored. */
    verdict: Verdict | null;
    /** Fingerprint of the certificate that verified it. */
    signer?: string;
}
export interface AttachmentParts extends SignatureParts, Omit<AudienceParts, keyof SignatureParts> {
    modes: Modes;
    guard: Guard;
    seen: Seen;
    named: NamedMedia;
    room: Room;
    /** Setting `open.verify`. */
    verify: VerifyPolicy;
    /** Told the fingerprint of the own key that opened one, whatever came of it then. */
    opened: (fingerprint: string) => void;
    /** The octets of a stored attachment. @throws ServiceError, NoResponseError, Refusal */
    stored: (mediaId: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}
/**
 * Fetches an attachment of a known place: opened where it is an encrypted message and the chat is
 * protected, else as it is stored.
 * @throws Refusal with the codes of media; ServiceError and NoResponseError from the service
 */
export declare function openAttachment(place: MediaPlace, signal: AbortSignal, parts: AttachmentParts): Promise<Attachment>;
/** Fetches an attachment as it is stored, whatever it is: for a sidecar that opens nothing. */
export declare function fetchAttachment(mediaId: string, signal: AbortSignal, parts: Pick<AttachmentParts, 'stored' | 'room'>): Promise<Attachment>;
