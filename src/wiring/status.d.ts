import type { Settings } from '../config/settings.ts';
import type { StatusReport } from '../control/reports.ts';
import type { Core } from './core.ts';
import type { Link } from './link.ts';
import type { Updates } from './updates.ts';
/** What the sidecar is and how it stands, for `postern status` and `/status`. */
export declare function statusOf(settings: Settings, parts: {
    link: Link;
    core: Core;
    updates: Updates | null;
    startedAt: string;
}): StatusReport;
