import { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
interface ListenerOptions extends FastifyServerOptions {
    /** Greatest size of a request body. */
    bodyBytes: number;
    /** Whether a request has a body to parse; that of others is ignored. All have, when absent. */
    takesBody?: (request: FastifyRequest) => boolean;
    /** Called with every request before anything is checked. */
    onArrival?: (request: FastifyRequest) => void;
    /** Gives the error object for the caller's own errors, null for all others. */
    refusalOf?: (error: unknown) => {
        status: number;
        code: string;
        message: string;
    } | null;
}
/**
 * A listener with the rules of DESIGN for local listeners (known Host, no web page, no CORS), limits
 * on every time and size, JSON bodies only, and the error envelope for every failure.
 */
export declare function createListener(options: ListenerOptions): FastifyInstance;
/** Listens on 127.0.0.1. Gives the URL, without a trailing slash. */
export declare function listen(app: FastifyInstance, port: number): Promise<string>;
export {};
