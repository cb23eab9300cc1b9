/** Which of all that happens an operator must not miss, and how he is told. */
import type { Secrets, Settings } from '../config/settings.ts';
import type { TrustChange } from '../keys/journal.ts';
import type { Alert, AlertWay } from '../observe/alerts.ts';
import { type ReasonCode } from '../observe/health.ts';
/** The ways that the settings name (`alert.command`, `alert.url`). */
export declare function waysOf(settings: Settings, secrets: Secrets): AlertWay[];
/** The alert for a reason that came up or went; null for ordinary ones. */
export declare function alertOfReason(change: {
    code: ReasonCode;
    holds: boolean;
}): Alert | null;
/** The alert for a change of whom we believe; null where the journal is enough. */
export declare function alertOfTrust(change: TrustChange): Alert | null;
/** The alert for a memory that takes nobody new. */
export declare function alertOfFull(what: 'chats' | 'people'): Alert;
