import type { Settings } from '../config/settings.ts';
import type { Log } from '../logger.ts';
import { Backlog } from '../updates/backlog.ts';
import { type Clock } from '../updates/clock.ts';
import { PollWatch } from '../updates/poll-watch.ts';
import { Webhook } from '../updates/webhook.ts';
import type { Core } from './core.ts';
import type { Link } from './link.ts';
/** What surrounds the sidecar, for tests to stand in for. */
export interface Surroundings {
    clock: Clock;
    resolveHost: (host: string) => Promise<string[]>;
}
export interface Updates extends AsyncDisposable {
    webhook: Webhook;
    polls: PollWatch;
    backlog: Backlog;
    /** A poll ended: with the service's code, or null when it gave updates. */
    polled: (code: string | null) => void;
    /** Takes what the service said about its own webhook. */
    observe: (result: unknown) => void;
    /** Begins to deliver, if there is where to. */
    start(): void;
}
/** @throws OperatorError `store-corrupt` */
export declare function createUpdates({ settings, log, surroundings }: {
    settings: Settings;
    log: Log;
    surroundings?: Surroundings;
}, link: Link, core: Core): Promise<Updates>;
