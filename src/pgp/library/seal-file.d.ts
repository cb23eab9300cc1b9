/**
 * Sealing of files as phones do it: signed, perhaps compressed, encrypted, in every common form
 * that a reader may meet (RFC 9580, 10.3). Runs in the calling thread, a few MiB at a time.
 */
import './brainpool.ts';
import type { Cipher, UnlockedKey } from '../engine.ts';
import { type Framing } from '../format/packets.ts';
/** How a file is sealed; what is absent is as most programs do it. */
export interface FileForm {
    /** Of what is signed; `none` when absent (RFC 9580, 5.6). */
    compression?: 'none' | 'zip' | 'zlib' | undefined;
    /** `anonymous`: recipient packets name no key (RFC 9580, 5.1.6). */
    recipients?: 'named' | 'anonymous' | undefined;
    /** `none`: nobody signs; `damaged`: one bit of the signature is wrong. */
    signature?: 'signed' | 'none' | 'damaged' | undefined;
    /** `partial`: in chunks of 64 KiB, as programs write what they read from a pipe. */
    framing?: Framing | undefined;
    cipher?: Cipher | undefined;
    /** `armored`: as ASCII text (RFC 9580, 6.2). */
    encoding?: 'binary' | 'armored' | undefined;
}
export interface SealFileRequest {
    file: Uint8Array;
    /** Armored certificates, each usable now. Only these can open it. */
    certificates: readonly string[];
    signer: UnlockedKey;
    form?: FileForm;
}
/**
 * Gives the sealed file: recipient packets (v3), then one integrity-protected container (v1).
 * @throws Error when there is nobody to seal to or a certificate cannot be used
 */
export declare function sealFile({ file, ...request }: SealFileRequest): Promise<Buffer>;
