import type { Answer, Upstream } from '../upstream/client.ts';
import type { PollWatch } from './poll-watch.ts';
import type { DeliveryLoop } from './delivery-loop.ts';
import type { OwnWebhook, Registration } from './registration.ts';
import { type TargetRules } from './target.ts';
export interface WebhookParts {
    upstream: Upstream;
    registration: Registration;
    rules: TargetRules;
    polls: PollWatch;
    makeLoop: () => DeliveryLoop;
    /** Called when a webhook was set or removed; `takenOver` when one at the service gave way. */
    onChanged: (o: {
        webhook: OwnWebhook | null;
        takenOver: boolean;
    }) => void;
}
export declare class Webhook implements AsyncDisposable {
    #private;
    constructor(parts: WebhookParts);
    /** Begins to deliver, when a webhook is set; also again after `hold`. */
    start(): void;
    /** Asks nothing of the service any more: its token was burnt. */
    hold(): void;
    /** Null when the bot has set none through us. */
    get own(): Readonly<OwnWebhook> | null;
    /** Updates that the bot has and the service still counts. */
    get unconfirmedCount(): number;
    /** Aborts when a webhook is set: a poll that is under way then ends with an empty list. */
    get pollsEnd(): AbortSignal;
    /** Something has changed at the service: what waits for it looks again. */
    wake(): void;
    /**
     * `POST /webhook`: sets or replaces it, takes one at the service away, and delivers from then on.
     * @returns the answer for the bot; the service's own when it would not have it
     * @throws Refusal `bad_webhook`, `postern_locked`, `postern_store_unwritable`; NoResponseError
     */
    set(wanted: {
        url: string;
        secret: string | null;
    }): Promise<Answer>;
    /** `DELETE /webhook`: ours and one at the service. @returns the service's answer */
    remove(query: string): Promise<Answer>;
    /** The service's own no to a poll while ours is set, if it has one. @throws Refusal */
    refusePoll(signal: AbortSignal): Promise<Answer | null>;
    /** Ends deliveries; one that is under way may end. */
    [Symbol.asyncDispose](): Promise<void>;
}
