/** The one place where the sidecar is wired and unwired; `wiring/` holds its two halves. */
import type { Secrets, Settings } from './config/settings.ts';
import { type Operations } from './control/operations.ts';
import type { Log } from './logger.ts';
import { type Purpose } from './wiring/core.ts';
import type { Surroundings } from './wiring/updates.ts';
export { restoreBackup, verifyBackup, type BackupReport } from './wiring/backups.ts';
/** Everything but the doors: what commands need when no sidecar runs. */
export interface Offline extends AsyncDisposable {
    operations: Operations;
}
/** The sidecar; disposing it drains. */
export interface Sidecar extends Offline {
    /** Opens both doors and the control socket and begins to publish. @returns the addresses */
    listen(): Promise<{
        bot: string;
        admin: string;
    }>;
}
export interface ContextOptions {
    settings: Settings;
    secrets: Secrets;
    log: Log;
    /** XDG_RUNTIME_DIR, for the control socket of a `dataDir` with a long path. */
    runtimeDir?: string | null;
    /** Stand-ins for what surrounds the sidecar; for tests. */
    surroundings?: Surroundings;
}
/**
 * Makes the sidecar, without listening yet.
 * @throws OperatorError for everything that keeps the store from opening
 */
export declare function createSidecar(options: ContextOptions): Promise<Sidecar>;
/**
 * Makes the operations over the store of a sidecar that does not run.
 * @param purpose `begin` makes the store when there is none
 */
export declare function createOffline(options: ContextOptions, purpose?: Exclude<Purpose, 'run'>): Promise<Offline>;
