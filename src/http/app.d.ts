import type { FastifyInstance } from 'fastify';
import type { Log } from '../logger.ts';
import type { GateOptions } from './gate.ts';
import type { RequestLine } from './request-log.ts';
declare module 'fastify' {
    interface FastifyRequest {
        /** Error code of the answer, for log and metrics. */
        failedWith: string | undefined;
    }
}
/** What the listeners share and where they differ. */
export interface AppOptions extends GateOptions {
    log: Log;
    level: 'info' | 'debug';
    /** Told of each request once it is answered. */
    answered: (line: RequestLine) => void;
}
/** An application that is not listening yet. */
export interface App {
    app: FastifyInstance;
    /** Aborts when the door is being closed. */
    stopping: AbortSignal;
    /** Takes nothing new, lets what is under way end, and is done within `bounds.drainMs`. */
    drain: () => Promise<void>;
}
/** Builds a door with all its checks, and no route. */
export declare function createApp(options: AppOptions): App;
