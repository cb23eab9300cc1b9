import type { Attachments } from '../../translate/attachments.ts';
import type { DoorRoute } from '../server.ts';
/**
 * `GET` and `HEAD /media/{id}`: an attachment, whole and checked before its first byte leaves. It
 * is for whoever has the url of an update, and for the bot's token where an update named the id.
 */
export declare function mediaRoute(attachments: Attachments): DoorRoute;
