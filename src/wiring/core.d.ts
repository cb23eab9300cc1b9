/** What a sidecar is between its doors: store, keys, chats, guard, translation. */
import { Facts } from '../chats/facts.ts';
import { Modes } from '../chats/modes.ts';
import { Outcomes } from '../chats/outcomes.ts';
import type { Secrets, Settings } from '../config/settings.ts';
import { Keyring } from '../keys/keyring.ts';
import { Openings } from '../keys/openings.ts';
import { Publication } from '../keys/publication.ts';
import { Transfer } from '../keys/transfer.ts';
import type { Log } from '../logger.ts';
import type { Engine } from '../pgp/engine.ts';
import { type Store } from '../store/store.ts';
import { Incoming } from '../translate/incoming.ts';
import type { Attachments } from '../translate/attachments.ts';
import { Outgoing } from '../translate/outgoing.ts';
import { type Acquaintance } from './acquaintance.ts';
import type { Link } from './link.ts';
export interface Core extends AsyncDisposable {
    store: Store;
    engine: Engine;
    keyring: Keyring;
    acquaintance: Acquaintance;
    outcomes: Outcomes;
    openings: Openings;
    /** Takes secret keys out and in. */
    transfer: Transfer;
    facts: Facts;
    modes: Modes;
    /** Null when the sidecar manages no key (`key.publish: false`). */
    publication: Publication | null;
    outgoing: Outgoing;
    /** Null when there is no key to open with and none will be made. */
    incoming: Incoming | null;
    attachments: Attachments;
}
/**
 * What a store is opened for: to `run` the sidecar, which needs just what the settings say; to
 * `begin` with a first key, which may make the store; or to `look` at one that is there.
 */
export type Purpose = 'run' | 'begin' | 'look';
/**
 * Opens the store and makes the parts over it.
 * @throws OperatorError for everything that keeps a store from opening
 */
export declare function createCore({ settings, secrets, log }: {
    settings: Settings;
    secrets: Secrets;
    log: Log;
}, link: Link, purpose: Purpose): Promise<Core>;
