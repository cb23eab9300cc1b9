import { type RouteHandler } from './call.ts';
/** GET /me */
export declare const getMe: RouteHandler;
/** PUT /key: the fingerprint is not compared with the key (spec). */
export declare const putKey: RouteHandler;
/** POST /token/revoke: revokes the token in use and notifies the owner. */
export declare const revokeToken: RouteHandler;
/** GET /webhook */
export declare const getWebhook: RouteHandler;
/** POST /webhook: ends a poll in progress. */
export declare const setWebhook: RouteHandler;
/** DELETE /webhook: queued updates remain for polling. */
export declare const deleteWebhook: RouteHandler;
