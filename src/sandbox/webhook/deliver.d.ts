import type { Update } from '../../api/update.ts';
import type { WebhookState } from '../state.ts';
import type { World } from '../world.ts';
/**
 * POSTs one update (spec, Events 4). Gives null when a 2xx came within 10 seconds of the
 * sandbox's clock, else the error. Redirects are not followed. The host is resolved anew and its
 * address pinned, so that a host that was accepted cannot turn private later.
 */
export declare function deliverUpdate(world: World, { webhook, update, stop }: {
    webhook: WebhookState;
    update: Update;
    stop: AbortSignal;
}): Promise<string | null>;
