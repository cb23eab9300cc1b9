import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../errors.ts';
import type { DoorBounds } from './bounds.ts';
import type { FailureAnswer } from './error-handler.ts';
declare module 'fastify' {
    interface FastifyContextConfig {
        /** The route answers without a token. */
        anonymous?: boolean;
    }
}
/** Whom a door lets in. */
export interface GateOptions {
    bounds: DoorBounds;
    /** From `hostNames`. */
    hosts: ReadonlySet<string>;
    /** Paths that may be asked for under any Host. */
    anyHost: ReadonlySet<string>;
    /** @throws Refusal when the caller may not come in; not asked on `anonymous` routes */
    authorize: (request: IncomingMessage) => void;
}
/**
 * Judges a request before any routing: who knocks, and whether every parser reads the request
 * line alike. @returns null when it may be routed, else its answer
 */
export declare function gate(request: IncomingMessage, options: GateOptions): FailureAnswer | null;
/**
 * Judges a request that has a route: its method, its token, and what its headers say of its body.
 * @returns null when it may be read
 */
export declare function admission(request: FastifyRequest, options: GateOptions): Refusal | null;
