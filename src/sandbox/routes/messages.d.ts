import { type RouteHandler } from './call.ts';
/** POST /messages */
export declare const sendMessage: RouteHandler;
/** PATCH /messages/{messageId}: any ordinary message of the bot's own, however old. */
export declare const editMessage: RouteHandler;
/** DELETE /messages/{messageId} */
export declare const deleteMessage: RouteHandler;
/** POST /callbacks/{callbackId}/answer: once, within 60 seconds of the press. */
export declare const answerCallback: RouteHandler;
