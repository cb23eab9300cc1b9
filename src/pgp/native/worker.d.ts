/** The thread in which much is computed at once that is no library's: without openpgp.js. */
import { refillEphemerals } from '../crypto/curve25519.ts';
import { armorShared } from '../format/json-armor.ts';
import { unlockNatively } from './unlock.ts';
import { wrapBlocks } from './wrap-session-key.ts';
declare const JOBS: {
    wrap: typeof wrapBlocks;
    armor: typeof armorShared;
    refillEphemerals: typeof refillEphemerals;
    unlock: typeof unlockNatively;
    /** Records of certificates, null for those that are not of the common shape. */
    read(certificates: string[], atMs: number): (Uint8Array | null)[];
};
export type NativeJobs = typeof JOBS;
export {};
