import type { Webhook } from '../../updates/webhook.ts';
import type { Upstream } from '../../upstream/client.ts';
import type { DoorRoute } from '../server.ts';
export interface MeRouteParts {
    upstream: Upstream;
    /** Told every `/me` that comes by; throws NoResponseError for one that is another bot's. */
    observe: (bot: unknown) => void;
    /** Our key and where it stands with the service; null: of that, the answer tells nothing. */
    key: () => {
        state: string;
        fingerprint: string | null;
    } | null;
    webhook: Webhook;
}
/** `GET /me`: the bot sees itself open, and its own webhook. Without either, it passes as it came. */
export declare function meRoute(parts: MeRouteParts): DoorRoute;
