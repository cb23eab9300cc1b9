import { Registry } from '@prometheus-io/client';
import type { Health } from './health.ts';
/**
 * What is counted and timed, in a registry of its own. Labels come from closed sets, so that
 * nobody outside can make the registry grow. Times are taken in ms and shown in seconds.
 */
export declare class Metrics {
    #private;
    readonly registry: Registry<import("@prometheus-io/client").RegistryContentType>;
    /** @param health shown as `postern_ready` and, reason by reason, `postern_reason` */
    constructor(health: Health);
    /** A request of the bot was answered; `route` is a pattern, `status` 0 when it hung up. */
    answered(o: {
        method: string;
        route: string;
        status: number;
        code?: string;
        ms: number;
    }): void;
    /** A message was sealed to `recipients` people; `skipped` more could not be sealed to. */
    sealed(o: {
        recipients: number;
        skipped: number;
        ms: number;
    }): void;
    /** An incoming message was judged; `verdict` is one of DESIGN's. */
    opened(o: {
        verdict: string;
        ms: number;
    }): void;
    /** A worker thread overran its deadline. */
    workerKilled(): void;
    /** Something changed about whom we seal to and believe; `kind` is one of the journal's. */
    trustChanged(kind: string): void;
    /** An alert was told, could not be, or was one too many. */
    alerted(o: {
        way: string;
        outcome: string;
    }): void;
    /** The service answered; `own` when the sidecar asked for itself. */
    upstreamAnswered(o: {
        status: number;
        ms: number;
        own: boolean;
    }): void;
    /** The service gave no usable answer; `code` is one of `postern_upstream_*`. */
    upstreamUnanswered(code: string): void;
    /** What the sidecar has spent of the bot's calls. */
    budget(o: {
        usedLastMinute: number;
        limit: number;
    }): void;
    /** A delivery to the bot's webhook ended; `failures` is how many have failed in a row by now. */
    delivered(o: {
        outcome: string;
        ms: number;
        failures: number;
    }): void;
    /** What waits at the service. */
    waiting(o: {
        pending: number | null;
        oldestMs: number | null;
    }): void;
    /** A poll was ended by another, which came from `here` or from `elsewhere`. */
    pollTakenOver(by: string): void;
}
