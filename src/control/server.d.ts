import type { Log } from '../logger.ts';
import { type Operations } from './operations.ts';
/**
 * Opens the control socket in `dataDir`: mode 0600 from the moment it exists. One that a dead
 * process left is replaced.
 * @param o `dataDir` absolute and 0700; `operations` are what requests are answered with;
 *   `runtimeDir` XDG_RUNTIME_DIR, where the socket goes when its path in `dataDir` is too long;
 *   `idleMs` how long a connection has for its next request, whole, and for taking an answer (one
 *   minute); `drainMs` how long disposing waits for operations under way (two seconds)
 * @returns disposing it removes the socket
 * @throws OperatorError `store-in-use` when another sidecar answers there; `listen` when no socket
 *   can be made
 */
export declare function startControl(o: {
    dataDir: string;
    operations: Operations;
    log: Log;
    runtimeDir?: string | null;
    idleMs?: number;
    drainMs?: number;
    /** Only for tests: the version that it says it is of. */
    version?: string;
}): Promise<AsyncDisposable>;
