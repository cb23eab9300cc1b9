import type { Log } from '../logger.ts';
/** One request, as it may be told: the pattern of its route, never its url. */
export interface RequestLine {
    requestId: string;
    /** Empty when not even that could be read. */
    method: string;
    /** As registered, `/bot/v1/chats/:chatId`; `none` when no route was reached. */
    route: string;
    /** 0 when the caller hung up before an answer. */
    status: number;
    /** The error code of the answer. */
    code?: string;
    /** From the end of the request's headers to the end of the answer. */
    ms: number;
}
/** An error code fit for a log or a label: the service may say anything, so odd ones are `other`. */
export declare function tellable(code: string): string;
/** Writes the one line of a request. */
export declare function logRequest(log: Log, level: 'info' | 'debug', line: RequestLine): void;
