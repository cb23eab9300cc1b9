import type { Incoming } from '../../translate/incoming.ts';
import type { Backlog } from '../../updates/backlog.ts';
import type { PollWatch } from '../../updates/poll-watch.ts';
import type { Webhook } from '../../updates/webhook.ts';
import type { Upstream } from '../../upstream/client.ts';
import type { DoorRoute } from '../server.ts';
export interface UpdateRouteParts {
    upstream: Upstream;
    /** Null when the sidecar holds no key: updates then pass as they came. */
    incoming: Incoming | null;
    /** Told how each poll ended: the service's code, or null when it gave updates. */
    polled: (code: string | null) => void;
    webhook: Webhook;
    polls: PollWatch;
    backlog: Backlog;
}
/**
 * `GET /updates`: the long poll is passed on with its query untouched; a hang-up on either side
 * ends the other. While the sidecar stops, and when the bot sets a webhook, polls end with an empty
 * list, which confirms nothing; while a webhook is set they are refused.
 */
export declare function updateRoutes(parts: UpdateRouteParts): DoorRoute;
