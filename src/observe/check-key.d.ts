/** The doctor's look at the bot's own key: what the service shows, how old ours is. */
import type { Bot } from '../api/bot.ts';
import { type Finding } from './finding.ts';
/** Our keys. */
export interface OwnKeys {
    active: string | null;
    /** ms since the epoch; null without an active key. */
    activeSinceMs: number | null;
    /** When the active key expires, ms since the epoch; Infinity when never, 0 when long since. */
    activeEndsMs: number;
    pending: string | null;
    all: readonly string[];
}
export interface KeyParts {
    /** Null when there is no store that opens. */
    keys: OwnKeys | null;
    /** Setting `key.publish`. */
    managesKey: boolean;
    /** Setting `key.rotateEveryDays`. */
    rotateEveryDays: number | undefined;
}
/** @param bot as `GET /me` has it just now */
export declare function checkKey(bot: Bot, parts: KeyParts): Finding[];
