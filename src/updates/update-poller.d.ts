import type { Incoming } from '../translate/incoming.ts';
import type { Upstream } from '../upstream/client.ts';
import type { Backlog } from './backlog.ts';
import type { Clock } from './clock.ts';
import { type Delivered } from './update-batch.ts';
import type { PollWatch } from './poll-watch.ts';
/** An update that is to be delivered, opened. */
export interface PendingUpdate {
    update: unknown;
    /** What it is known by once it has been delivered. */
    delivered: Delivered;
}
export interface UpdatePollerParts {
    upstream: Upstream;
    /** Null when the sidecar holds no key: updates then pass as they came. */
    incoming: Incoming | null;
    clock: Clock;
    polls: PollWatch;
    backlog: Backlog;
    /** Limits of `GET /me`: `pollTimeoutMaxS`, `apiCallsPerMinute`. */
    limits: () => {
        pollTimeoutMaxS: number;
        apiCallsPerMinute: number;
    };
    /** Called after each poll, with the service's code, or null when it gave updates. */
    onPolled: (code: string | null) => void;
    /** Called when the queue could not be read, with how long is waited before the next try. */
    onReadFailed: (o: {
        code: string;
        waitMs: number;
    }) => void;
    /** Called with an error that is no Refusal; the queue is then read again. */
    onUnexpectedError: (error: unknown) => void;
}
export declare class UpdatePoller {
    #private;
    /** Set while deliveries cannot be recorded: each is then confirmed before the next is given. */
    confirmsEach: boolean;
    /** @param last what was delivered last in a former life, when that is known */
    constructor(parts: UpdatePollerParts, last: Delivered | null);
    /**
     * Waits for updates, and gives those that are still to be delivered, in order. Gives none when
     * the signal was aborted, when the service would not answer, or when there was nothing new; it
     * is then to be asked again.
     */
    next(stop: AbortSignal): Promise<PendingUpdate[]>;
    /** Records a delivery; the next poll confirms it at the service. */
    markDelivered(delivered: Delivered): void;
    /** How many were delivered that the service still counts as waiting. */
    get unconfirmedCount(): number;
    /** Something has changed at the service: it is asked at once. */
    wake(): void;
    /** Tells the service what was delivered, if it does not know; no longer than two seconds. */
    confirm(): Promise<void>;
}
