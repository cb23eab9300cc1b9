import { type RouteHandler } from './call.ts';
/** GET /commands: every scope with its list, or the list of one scope. */
export declare const getCommands: RouteHandler;
/** PUT /commands: replaces the list of one scope; of commands with the same name the first counts. */
export declare const putCommands: RouteHandler;
/** DELETE /commands */
export declare const deleteCommands: RouteHandler;
