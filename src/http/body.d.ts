import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../errors.ts';
/**
 * What is wrong with a request's body as far as its headers tell: only JSON, never encoded, never
 * on a GET or HEAD, never over the limit (DESIGN, The local doors).
 * @returns null when there is no body or it may be read
 */
export declare function bodyProblem(request: IncomingMessage, maxBytes: number): Refusal | null;
/** True for a body over the limit or of unknown length. */
export declare function mayBeLong({ headers }: IncomingMessage, maxBytes: number): boolean;
/** Makes JSON, read by our own rules, the only body that `app` takes; an empty one is none. */
export declare function takeOnlyJson(app: FastifyInstance): void;
