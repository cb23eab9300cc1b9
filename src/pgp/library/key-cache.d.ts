/** Parsed keys, kept by their exact text or bytes, so that each is parsed once a thread. */
import { type PrivateKey, type PublicKey } from 'openpgp';
import type { UnlockedKey } from '../engine.ts';
/** Gives the certificate of an armored text; the least recently used is dropped at the bound. */
export declare function certificateOf(armored: string): Promise<PublicKey>;
/** Gives the secret key of an unlocked one. There are few, and they live as long as the thread. */
export declare function secretKeyOf(key: UnlockedKey): Promise<PrivateKey>;
