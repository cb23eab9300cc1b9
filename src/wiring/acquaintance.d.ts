import { Directory, type DirectoryCalls } from '../keys/directory.ts';
import { Journal } from '../keys/journal.ts';
import { KnownKeys } from '../keys/known-keys.ts';
import { Lists } from '../keys/lists.ts';
import { People } from '../keys/people.ts';
import type { TrustPolicy } from '../keys/policies.ts';
import { Trust } from '../keys/trust.ts';
import type { Log } from '../logger.ts';
import type { Alerts } from '../observe/alerts.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Engine } from '../pgp/engine.ts';
import type { Store } from '../store/store.ts';
export interface Acquaintance {
    people: People;
    journal: Journal;
    lists: Lists;
    trust: Trust;
    directory: Directory;
    knownKeys: KnownKeys;
}
/** Loads what the store has of other people. */
export declare function loadAcquaintance(o: {
    store: Store;
    engine: Engine;
    calls: DirectoryCalls;
    /** Setting `trust.policy`. */
    policy: TrustPolicy;
    metrics: Metrics;
    alerts: Alerts;
    log: Log;
}): Promise<Acquaintance>;
/** Tells, once a minute at most, that nothing new can be remembered. */
export declare function tellFull(what: 'chats' | 'people', { alerts, log }: {
    alerts: Alerts;
    log: Log;
}): void;
