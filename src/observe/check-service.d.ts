/** The doctor's look at the service: does it answer, take the token, agree on the time. */
import type { Bot } from '../api/bot.ts';
import type { Limits } from '../api/limits.ts';
import { type Finding } from './finding.ts';
export interface ServiceParts {
    /** Asks `GET /me` now. */
    me: () => Promise<Bot>;
    limits: () => Limits;
    /** How far our clock is ahead of the service's; null while that is not known. */
    skewMs: () => number | null;
    upstreamUrl: string;
    /** Setting `key.publish`. */
    managesKey: boolean;
}
/** Asks once. @returns the bot, null when it could not be had, with what there is to say */
export declare function checkService(parts: ServiceParts): Promise<{
    bot: Bot | null;
    lines: Finding[];
}>;
