import type { Clock } from './clock.ts';
import { type DeliveryOutcome } from './delivery-outcome.ts';
import { type TargetRules } from './target.ts';
/** What is to be delivered, and where. */
export interface Delivery {
    url: string;
    /** What the bot wants to be shown; null when it set none. */
    secret: string | null;
    /** JSON. */
    body: string;
    /** Gives the delivery up. */
    signal: AbortSignal;
}
export interface WebhookClientParts extends TargetRules {
    clock: Clock;
}
/** Makes deliveries; its connections are its own, and stay open for the next one. */
export declare class WebhookClient implements Disposable {
    #private;
    constructor(parts: WebhookClientParts);
    /**
     * Delivers once; never throws, never follows. The host is resolved anew, and what is connected
     * to is one of the addresses that were checked. All of it takes 10 s at most.
     */
    deliver(delivery: Delivery): Promise<DeliveryOutcome>;
    /** Ends every connection, also those that are being made. */
    [Symbol.dispose](): void;
}
