/** The two doors of a sidecar, built and not open yet. */
import type { Secrets, Settings } from '../config/settings.ts';
import type { Operations } from '../control/operations.ts';
import { type Door } from '../http/server.ts';
import type { Log } from '../logger.ts';
import type { Core } from './core.ts';
import type { Link } from './link.ts';
import type { Updates } from './updates.ts';
export interface Doors {
    bot: Door;
    admin: Door;
}
/** Builds both, with every route of the bot's. */
export declare function buildDoors({ settings, secrets, log }: {
    settings: Settings;
    secrets: Secrets;
    log: Log;
}, parts: {
    link: Link;
    core: Core;
    updates: Updates;
    operations: Operations;
}): Doors;
/** Opens both. @returns where they really listen @throws OperatorError `listen` */
export declare function openDoors(settings: Settings, doors: Doors): Promise<{
    bot: string;
    admin: string;
}>;
