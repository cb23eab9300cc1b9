import type { Webhook } from '../../updates/webhook.ts';
import type { Upstream } from '../../upstream/client.ts';
import type { DoorRoute } from '../server.ts';
export interface WebhookRouteParts {
    upstream: Upstream;
    webhook: Webhook;
    /** Told every result that the service gives about its own webhook; must not throw. */
    observe: (result: unknown) => void;
}
/** `/webhook`: the bot's own, which the sidecar delivers to. */
export declare function webhookRoutes({ upstream, webhook, observe }: WebhookRouteParts): DoorRoute;
