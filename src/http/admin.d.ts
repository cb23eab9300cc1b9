import type { Log } from '../logger.ts';
import type { Health } from '../observe/health.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { DoorBounds } from './bounds.ts';
import type { Door } from './server.ts';
/** What the admin door is made of. */
export interface AdminDoorParts {
    log: Log;
    health: Health;
    metrics: Metrics;
    /** What `/status` says; no secrets. */
    status: () => Promise<object>;
    /** Host names beside the loopback ones: `admin.host` and `listen.allowedHosts`. */
    allowedHosts: Iterable<string>;
    /** Only to make tests short. */
    bounds?: Partial<DoorBounds>;
}
/**
 * Builds the admin door: `/healthz` while the process serves, `/readyz` while messages flow,
 * `/status`, `/metrics`. It asks for no token, and nothing behind it is secret.
 */
export declare function buildAdminDoor(parts: AdminDoorParts): Door;
