import { Refusal } from '../errors.ts';
import type { Target } from '../permit.ts';
/** A send or an edit as it was validated; `fields` holds everything but `text` and `armored`. */
export interface Draft {
    target: Target;
    chatId: number;
    text: string | undefined;
    /** Only from a bot that does its own sealing. */
    armored: string | undefined;
    fields: {
        chatId: number;
        [name: string]: unknown;
    };
    /** Fields that the spec does not list, for a readable chat alone. */
    unlisted: string[];
}
export interface DraftRules {
    textMax: number;
    /** Whether the sidecar seals; then `armored` from the bot is the wrong kind, as in any open chat. */
    sealsForBot: boolean;
}
/**
 * Takes the parsed JSON body of `POST /messages`. A send without `sendId` gets one. One without a
 * body is refused here unless the bot does its own sealing: what it must send depends on the chat.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export declare function readSend(json: unknown, rules: DraftRules): Draft;
/**
 * Takes the parsed JSON body of `PATCH /messages/{messageId}`; absent and null markup stay apart.
 * @throws Refusal `bad_request`, `wrong_body_kind`
 */
export declare function readEdit(messageId: string, json: unknown, rules: DraftRules): Draft;
/** The refusal of a send without a body, which says what kind the chat takes (spec, Errors). */
export declare function bodyMissing(expected: 'text' | 'armored'): Refusal;
