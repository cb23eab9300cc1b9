import { Refusal } from '../errors.ts';
/**
 * Why a person cannot be written to, by the chat itself. The spec says that a private chat tells
 * whether the person blocked the bot, but not by which names: a field that speaks of it and is
 * true is taken at its word.
 * Takes a result of `GET /chats/{chatId}`. Gives the service's own refusal, or null.
 */
export declare function whyPersonIsGone(chat: unknown): Refusal | null;
