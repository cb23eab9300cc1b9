import type { Facts } from '../../chats/facts.ts';
import type { Modes } from '../../chats/modes.ts';
import type { Upstream } from '../../upstream/client.ts';
import type { DoorRoute } from '../server.ts';
export interface ChatRouteParts {
    upstream: Upstream;
    facts: Facts;
    modes: Modes;
    /** False: answers pass as they came (`key.publish: false`). */
    translates: boolean;
}
/** `GET /chats/{chatId}` and `GET /chats/{chatId}/keys`: every chat is a readable one. */
export declare function chatRoutes(parts: ChatRouteParts): DoorRoute;
