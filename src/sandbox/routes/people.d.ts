import type { RouteHandler } from './call.ts';
/** GET /resolve/{username}: an unknown handle counts as five lookups. */
export declare const resolve: RouteHandler;
/** GET /users/{userId}/key: only for accounts that share a chat with the bot. */
export declare const getUserKey: RouteHandler;
