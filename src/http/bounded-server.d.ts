import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { DoorBounds } from './bounds.ts';
import type { Connections } from './connections.ts';
import type { FailureAnswer } from './error-handler.ts';
/** What a listener is made of. */
export interface ServerParts {
    bounds: DoorBounds;
    connections: Connections;
    /** Judges a request before any routing: null lets it on, an answer ends it. */
    gate: (request: IncomingMessage) => FailureAnswer | null;
    /**
     * Told of everything that never reaches a route; `method` is empty when none was read. Gives the
     * id that the log has for it.
     */
    turnedAway: (method: string, answer: FailureAnswer) => string;
}
/**
 * An HTTP server with every bound set, which gives the envelope also where Node would answer by
 * itself: no or two Hosts, unknown expectations, whatever the parser refuses. CONNECT is closed;
 * an Upgrade is never taken up.
 */
export declare function createBoundedServer(parts: ServerParts, routes: RequestListener): Server;
