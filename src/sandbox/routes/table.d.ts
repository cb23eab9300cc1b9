import type { EndpointName } from '../../api/endpoints.ts';
import type { RouteHandler } from './call.ts';
/** The handler of every endpoint of the spec. */
export declare const HANDLERS: Record<EndpointName, RouteHandler>;
