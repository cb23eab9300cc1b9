import { Bot } from '../api/bot.ts';
import { type Limits } from '../api/limits.ts';
import type { Secrets, Settings } from '../config/settings.ts';
import type { Log } from '../logger.ts';
import { Alerts, type AlertWay } from '../observe/alerts.ts';
import { Health, type ReasonCode } from '../observe/health.ts';
import { Metrics } from '../observe/metrics.ts';
import { ServiceWatch } from '../observe/service-watch.ts';
import { type Upstream } from '../upstream/client.ts';
/** The link to the service, with what is known of the bot from it. */
export interface Link extends AsyncDisposable {
    upstream: Upstream;
    health: Health;
    metrics: Metrics;
    alerts: Alerts;
    watch: ServiceWatch;
    calls: {
        me: () => Promise<Bot>;
        chat: (chatId: number) => Promise<unknown>;
        chatKeys: (chatId: number) => Promise<unknown>;
        userKey: (userId: number) => Promise<unknown>;
        putKey: (key: {
            publicKey: string;
            fingerprint: string;
        }) => Promise<void>;
    };
    /** The last `/me`; null before the first. */
    bot: () => Bot | null;
    /** As the token says; without a token of the spec's shape, as the first `/me` said. */
    botId: () => number | null;
    limits: () => Limits;
    /** Calls of our own in the last minute, and how many there may be. */
    spent: () => {
        usedLastMinute: number;
        limit: number;
    };
    /**
     * Takes in a `/me` that the bot asked for.
     * @throws NoResponseError `postern_upstream_invalid` when it is another bot's
     */
    observe: (result: unknown) => void;
    /** Is told every `/me`. */
    onBot(listener: (bot: Bot) => void): void;
    /** Is told when a call works again after the token was burnt. */
    onRevived(listener: () => void): void;
    /** Is told when a reason for not being ready is gone. */
    onCleared(listener: (code: ReasonCode) => void): void;
    /** Is asked for a write while the data directory could not be written. */
    onStoreTrial(trial: () => Promise<unknown>): void;
}
/**
 * Makes the link; no call is made before the first is asked for.
 * @param o `ways` tell the operator what must not be missed
 */
export declare function createLink(settings: Settings, secrets: Secrets, { log, ways }: {
    log: Log;
    ways: readonly AlertWay[];
}): Link;
