import { type RawAnswer } from '../errors.ts';
import type { Recipients } from '../keys/recipients.ts';
type Result = Record<string, unknown>;
/**
 * Writes an answer anew around a changed result; status and headers stay.
 * @param result the parsed result of a successful answer
 */
export declare function withResult<A extends RawAnswer>(answer: A, result: unknown): A;
/** The same with updates, of which there may be megabytes. */
export declare function withUpdates<A extends RawAnswer>(answer: A, updates: unknown[]): Promise<A>;
/**
 * A result that must be an object, without what some parser would read for what we read or write in
 * it.
 * @throws NoResponseError `postern_upstream_invalid`
 */
export declare function objectResult(result: unknown, what: string): Result;
/** `GET /me`: an open bot; the truth stands under `postern`. */
export declare function meView(bot: Result, key: {
    state: string;
    fingerprint: string | null;
}): Result;
/** The bot's own webhook, as far as answers show it. */
export interface ShownWebhook {
    url: string;
    secret: string | null;
    failures: number;
    lastError: string | null;
    nextAttemptAt: number | null;
}
/** `GET /me` while the bot has a webhook of its own; `ahead` updates were delivered already. */
export declare function withOwnWebhook(bot: Result, own: ShownWebhook, ahead: number): Result;
/**
 * `GET /webhook` likewise. What the service calls the next attempt is an open point of the spec:
 * it stands under the one further name that its answer has, else under `nextAttemptAt`.
 */
export declare function webhookView(info: Result, own: ShownWebhook, ahead: number): Result;
/** `GET /chats/{chatId}`: a readable chat; `postern.mode` is what the service says. */
export declare function chatView(chat: Result, truth: {
    latched: boolean;
}): Result;
/** A sealed send or edit: who got it, and who could not. What was sealed is echoed as its text. */
export declare function sentView(sent: Result, text: string, recipients: Recipients): Result;
export {};
