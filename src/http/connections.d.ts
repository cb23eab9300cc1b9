import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
/** A request whose answer is not finished. */
export interface UnderWay {
    request: IncomingMessage;
    response: ServerResponse;
}
/**
 * The open connections of one listener: never more than a bound, and the longest idle one goes
 * first, so that sockets which somebody only holds open keep nobody out.
 */
export declare class Connections {
    #private;
    constructor(bounds: {
        connections: number;
        requestsPerConnection: number;
    });
    /** Takes a new connection in, or closes it when all the others are at work. */
    accept(socket: Socket): void;
    /**
     * Notes that a request came in; it counts as under way until its answer is closed. The answer to
     * the last that a connection may bring says so, and ends it.
     */
    begin(request: IncomingMessage, response: ServerResponse): void;
    /** The requests of a connection whose answers are not finished, oldest first. */
    underWay(socket: Socket): UnderWay[];
    /** From now on nothing new is taken, what is idle closes, what is at work closes when done. */
    stop(): void;
    /** Cuts what is still there. */
    closeAll(): void;
    /** Resolves when no connection is open. */
    allClosed(): Promise<void>;
}
