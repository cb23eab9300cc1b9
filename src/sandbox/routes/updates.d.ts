import { type RouteHandler } from './call.ts';
/** GET /updates: ends an earlier poll, confirms by `offset`, and waits on the sandbox's clock. */
export declare const getUpdates: RouteHandler;
