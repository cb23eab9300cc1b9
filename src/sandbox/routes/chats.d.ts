import type { RouteHandler } from './call.ts';
/** GET /chats/{chatId} */
export declare const getChat: RouteHandler;
/** GET /chats/{chatId}/keys */
export declare const getChatKeys: RouteHandler;
/** POST /chats/{chatId}/leave: the members get a service notice. */
export declare const leaveChat: RouteHandler;
/** GET /chats/{chatId}/members: the members that the bot may see. */
export declare const getMembers: RouteHandler;
/** GET /chats/{chatId}/members/{userId} */
export declare const getMember: RouteHandler;
