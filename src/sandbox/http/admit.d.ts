import type { FastifyRequest } from 'fastify';
import { type Endpoint } from '../../api/endpoints.ts';
import type { BotState } from '../state.ts';
import type { World } from '../world.ts';
/** The endpoint that a request was routed to, or undefined. */
export declare function endpointOf(request: FastifyRequest): Endpoint | undefined;
/**
 * Checks, in this order: the address's rate window, the token, the bot's rate window, whether the
 * bot is paused. A call that a window refuses counts in no window (spec, Errors 2).
 * @throws SandboxApiError `rate_limited`, `unauthorized` or `bot_paused`
 */
export declare function admitCall(world: World, request: FastifyRequest): BotState;
