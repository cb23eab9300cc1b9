/** What the service shows against what we hold (DESIGN: Keys). */
import type { Bot } from '../api/bot.ts';
import type { Keyring } from './keyring.ts';
/**
 * `equal`: the active key is shown. `pending`: the one that waits for its publication. `older`:
 * one that was ours before. `foreign`: one that never was. `none`: none, although we had published.
 * `first`: none, and we never had.
 */
export type Situation = 'equal' | 'pending' | 'older' | 'foreign' | 'none' | 'first';
/** The fingerprint that `/me` claims, in lower case, or null for an open bot. */
export declare function fingerprintOf(bot: Bot): string | null;
/** @param shown the fingerprint that `/me` claims, lower case */
export declare function situationOf(shown: string | null, keyring: Keyring): Situation;
