import type { Limits } from '../../api/limits.ts';
import type { Messages } from '../../translate/messages.ts';
import type { Answer } from '../../upstream/client.ts';
import type { DoorRoute } from '../server.ts';
export interface MessageRouteParts {
    messages: Messages<Answer>;
    limits: () => Limits;
    /** False when the bot may do its own sealing (`key.publish: false`). */
    sealsForBot: boolean;
}
/**
 * `POST /messages` and `PATCH /messages/{messageId}`. A bot that hangs up does not undo a send
 * that is under way: it is made once, whoever listens.
 */
export declare function messageRoutes({ messages, limits, sealsForBot }: MessageRouteParts): DoorRoute;
