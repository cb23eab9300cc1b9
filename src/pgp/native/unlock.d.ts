import type { UnlockedKey } from '../engine.ts';
/**
 * Unlocks an armored version 4 secret key.
 * @returns null when any part is not of the common forms, which says nothing about it
 * @throws Error `wrong-passphrase`
 */
export declare function unlockNatively(armored: string, passphrase: string): UnlockedKey | null;
