import type { FastifyRequest } from 'fastify';
/**
 * A numeric id in a path, in the spelling in which it came: the service's ids can be greater than
 * JavaScript counts. Any other names nothing, which needs no asking: such paths are never sent on.
 * @throws Refusal as the service says of what is not there, naming the parameter
 */
export declare function idParam(request: FastifyRequest, name: string): string;
/** A parameter of the path, decoded; to be encoded again before it stands in another path. */
export declare function textParam(request: FastifyRequest, name: string): string;
/** The query as it came, with its question mark; empty when there is none. */
export declare function queryOf(request: FastifyRequest): string;
