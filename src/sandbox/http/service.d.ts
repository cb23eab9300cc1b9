import type { FastifyInstance } from 'fastify';
import type { World } from '../world.ts';
import { type ResponseRewrite } from './response.ts';
/**
 * The service's listener: every endpoint of the spec under `/bot/v1`, and `/media/{id}`.
 * @param rewrites applied in order to the response of every call
 */
export declare function createService(world: World, rewrites: ReadonlySet<ResponseRewrite>): FastifyInstance;
