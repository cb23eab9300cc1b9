/** What is done natively, put together. */
import type { SessionKey } from '../crypto/session-key.ts';
import type { UnlockedKey } from '../engine.ts';
import type { OwnKeyInfo } from '../library/certificate-info.ts';
import { CertificateCache } from './certificate-cache.ts';
import type { CheckedCertificate } from './certificate-info.ts';
import { NativeOwnKeys } from './own-keys.ts';
import { type PrecomputeBounds } from './precompute.ts';
import { MessageSealer } from './sealer.ts';
import { Threads } from './threads.ts';
/** What is asked of openpgp.js. */
export interface NativeLibrary {
    judge(armored: string, atMs: number, known?: string): Promise<CheckedCertificate>;
    describe(key: UnlockedKey, atMs: number): Promise<OwnKeyInfo>;
    packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>;
    readAes256(certificates: string[]): Promise<boolean>;
}
export interface NativeOptions {
    /** Threads at most; they are started when first needed. */
    threads: number;
    bounds: PrecomputeBounds;
    onThreadKilled: (job: string) => void;
    onPrepared: (place: string) => void;
    onDisagreement: () => void;
}
/** The parts that the engine is made of. */
export interface Native extends AsyncDisposable {
    certificates: CertificateCache;
    own: NativeOwnKeys;
    sealer: MessageSealer;
    threads: Threads;
}
/** Puts the parts together; nothing runs before it is first asked for something. */
export declare function createNative(library: NativeLibrary, options: NativeOptions): Native;
