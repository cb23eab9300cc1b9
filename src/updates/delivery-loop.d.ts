import { type Clock } from './clock.ts';
import type { WebhookClient } from './webhook-client.ts';
import type { DeliveryFailure } from './delivery-outcome.ts';
import type { Registration } from './registration.ts';
import type { UpdatePoller } from './update-poller.ts';
export interface DeliveryLoopParts {
    poller: UpdatePoller;
    client: WebhookClient;
    registration: Pick<Registration, 'webhook' | 'recordDelivered' | 'recordFailure'>;
    clock: Clock;
    /** Called after each delivery; must not throw. */
    onDelivered: (o: {
        updateId: number;
        ms: number;
        after: number;
    }) => void;
    /** Called after each failure, with how many there were in a row and how long is waited. */
    onFailed: (o: {
        updateId: number;
        ms: number;
        failure: DeliveryFailure;
        failures: number;
        waitMs: number;
    }) => void;
    /** Called with an error that is no Refusal. */
    onUnexpectedError: (error: unknown) => void;
}
/** The work on one webhook, from its setting to its end. */
export declare class DeliveryLoop {
    #private;
    /** Begins at once. */
    constructor(parts: DeliveryLoopParts);
    /**
     * Begins no delivery any more, and lets one that is under way end for so long; then it is cut
     * off, and its update stays queued. Then confirms at the service what was delivered, unless `confirms` is false.
     * Resolves when all is quiet.
     */
    stop({ graceMs, confirms }: {
        graceMs: number;
        confirms?: boolean;
    }): Promise<void>;
    /** Something has changed at the service: a wait for it ends. */
    wake(): void;
    /** Updates that the bot has and the service still counts. */
    get unconfirmedCount(): number;
}
