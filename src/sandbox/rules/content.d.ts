import type { ChatMode } from '../../api/chat.ts';
import type { BodyKind } from '../../api/error.ts';
import { Markup } from '../../api/markup.ts';
/** The content of a message: exactly one of the two is not null. */
export interface MessageContent {
    text: string | null;
    armored: string | null;
}
/**
 * Checks the content of a request body against the chat's mode. Gives null when the body has
 * neither kind. The wrong kind is refused even beside the right one.
 * @throws SandboxApiError `wrong_body_kind` with `expected`, or `bad_request`
 */
export declare function readContent(body: {
    text?: string | undefined;
    armored?: string | undefined;
}, mode: ChatMode): MessageContent | null;
/** Which kind of body a chat takes. */
export declare function expectedKind(mode: ChatMode): BodyKind;
/** @param markup as received, neither absent nor null. @throws SandboxApiError `bad_markup` */
export declare function readMarkup(markup: unknown): Markup;
