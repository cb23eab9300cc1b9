import type { SessionKey } from '../crypto/session-key.ts';
import type { Adopted, AdoptSecrets, Opened, OwnKey, SealRequest, Signed, SignedAtLength, SignatureResult, UnlockedKey } from '../engine.ts';
import type { EncryptedMessage } from '../format/encrypted-message.ts';
import type { CheckedCertificate } from '../native/certificate-info.ts';
import { type ThreadLoad } from '../pool.ts';
import { Sealed } from '../sealed.ts';
import type { FileOpeningHelpers } from '../stream/open-file.ts';
import type { OwnKeyInfo } from './certificate-info.ts';
export interface LibraryOptions {
    /** Threads of each of the three kinds, 2 by default, started when first needed. */
    threads?: number;
    /** For opening, verifying and judging, 3000 by default. */
    deadlineMs?: number;
    /** Called when a job had to be killed. */
    onThreadKilled?: (job: string) => void;
}
/**
 * Messages (open, verify), certificates (judge) and what we make (seal, generate, unlock) run in
 * threads of their own, so that nothing of anybody's can hold up the others.
 */
export declare class Library implements AsyncDisposable {
    #private;
    constructor({ threads, deadlineMs, onThreadKilled }: LibraryOptions);
    generate(options: {
        userId: string;
        createdMs: number;
        passphrase: string;
        isRandom?: boolean | undefined;
    }): Promise<OwnKey>;
    unlock(locked: string, passphrase: string): Promise<UnlockedKey>;
    relock(locked: string, o: {
        from: string;
        to: string;
        isRandom?: boolean;
    }): Promise<string>;
    /** Unfit as `too-large` when the deadline passed; never throws for what the file holds. */
    adopt(file: Uint8Array, secrets: AdoptSecrets): Promise<Adopted>;
    /** What an own key is at a time. @throws JobKilled, or Error when it cannot be read */
    describe(key: UnlockedKey, atMs: number): Promise<OwnKeyInfo>;
    /** Unusable by `deadline` when that passed; never throws for what the text holds. */
    judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>;
    seal(request: SealRequest): Promise<Sealed>;
    /** Recipient packets alone. @throws Error when any certificate cannot be used */
    packetsFor(certificates: string[], { cipher, data }: SessionKey): Promise<Uint8Array>;
    /** Whether all certificates list AES-256. */
    readAes256(certificates: string[]): Promise<boolean>;
    open(encrypted: EncryptedMessage, keys: UnlockedKey[], signal?: AbortSignal): Promise<Opened>;
    /** What opening an attachment leaves to the library. */
    fileOpeningHelpers(keys: UnlockedKey[]): FileOpeningHelpers;
    verify(signed: Signed | SignedAtLength, certificate: string, { nowMs, signal }: {
        nowMs: number;
        signal?: AbortSignal | undefined;
    }): Promise<SignatureResult[]>;
    /** What the threads of each kind are doing. */
    get load(): Record<'messages' | 'certificates' | 'ours' | 'attachments', ThreadLoad>;
    [Symbol.asyncDispose](): Promise<void>;
}
