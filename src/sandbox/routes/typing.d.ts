import { type RouteHandler } from './call.ts';
/** POST /chats/{chatId}/typing: sends at most one indicator per chat in 3 seconds. */
export declare const sendTyping: RouteHandler;
