/**
 * Every error that Postern makes, in four families that are never confused:
 * we decided not to (`Refusal`), nobody usable answered (`NoResponseError`), the service said no
 * (`ServiceError`), and the operator must act before anything can run (`OperatorError`).
 */
import { OPERATOR_REFUSALS } from './operator-refusals.ts';
/**
 * The only source of Postern's own codes: HTTP status, what happened, and what to do about it.
 * The table in src/http/README.md is made from it.
 */
export declare const REFUSALS: {
    readonly postern_downgrade_refused: {
        readonly status: 409;
        readonly what: 'readable text is not sent to a chat that must be encrypted';
        readonly hint: 'if the chat really became readable, run `postern chat allow-readable <chatId>`';
    };
    readonly postern_no_recipient: {
        readonly status: 409;
        readonly what: 'nobody in the chat has a key to seal to';
        readonly hint: 'the person must open the chat with an app that publishes a key';
    };
    readonly postern_recipient_unusable: {
        readonly status: 409;
        readonly what: 'no certificate in the chat’s key list can be used';
        readonly hint: 'the people named must publish a new key; `postern check` says what is wrong with each';
    };
    readonly postern_recipients_inconsistent: {
        readonly status: 409;
        readonly what: 'the chat’s key list says what no honest service can';
        readonly hint: 'nothing was sent; an honest list has one key for each person, fewer keys than members, never the bot, and in a private chat its person alone (`postern chat list` shows whose it is)';
    };
    readonly postern_trust_required: {
        readonly status: 409;
        readonly what: 'nothing is sealed to a recipient whose key changed, is another person’s, or was blocked';
        readonly hint: 'compare fingerprints with the person, then run `postern trust accept <userId>`';
    };
    readonly postern_seal_too_large: {
        readonly status: 413;
        readonly what: 'the sealed message is larger than the service accepts';
        readonly hint: 'shorten the text, or write to a smaller group: every recipient adds to the size';
    };
    readonly postern_not_recipient: {
        readonly status: 422;
        readonly what: 'the file is sealed, but not for this bot';
        readonly hint: 'in a group, phones seal files to the bot only while its privacy mode is off';
    };
    readonly postern_damaged: {
        readonly status: 422;
        readonly what: 'the sealed data cannot be opened';
        readonly hint: 'ask the sender to send it again';
    };
    readonly postern_replayed: {
        readonly status: 422;
        readonly what: 'this sealed data was seen before as something else';
        readonly hint: 'treat it as forged';
    };
    readonly postern_bad_signature: {
        readonly status: 422;
        readonly what: 'the signature is not the sender’s';
        readonly hint: 'treat it as forged';
    };
    readonly postern_plaintext_in_protected: {
        readonly status: 422;
        readonly what: 'the file is from an encrypted chat and is not sealed';
        readonly hint: 'treat it as forged: phones seal every file there; `open.verify: off` delivers it';
    };
    readonly postern_key_managed: {
        readonly status: 403;
        readonly what: 'the bot’s key is managed by Postern';
        readonly hint: 'run `postern key` on the machine that runs Postern';
    };
    readonly postern_key_conflict: {
        readonly status: 503;
        readonly what: 'the service lists a key for this bot that is not ours';
        readonly hint: 'find out who published it, or restore a later backup that has it; `postern key publish --replace` replaces it by ours';
    };
    readonly postern_key_unpublished: {
        readonly status: 503;
        readonly what: 'the bot’s key is not confirmed by the service yet';
        readonly hint: 'try again when /readyz is 200; its reasons name what is missing';
    };
    readonly postern_key_expired: {
        readonly status: 503;
        readonly what: 'the bot’s key has expired';
        readonly hint: 'run `postern key rotate` for a key that does not expire; the old one still opens messages';
    };
    readonly postern_bot_unprotected: {
        readonly status: 503;
        readonly what: 'the service says that this bot has no key any more';
        readonly hint: 'publish again with `postern key publish`, or leave encrypted chats for good with `postern chat allow-readable --private`';
    };
    readonly postern_locked: {
        readonly status: 503;
        readonly what: 'the secret keys are locked';
        readonly hint: 'set `key.passphrase` and start again';
    };
    readonly postern_store_unwritable: {
        readonly status: 503;
        readonly what: 'the data directory cannot be written, so whatever must be recorded first is refused';
        readonly hint: 'free space on the disk of `dataDir`, or make it writable';
    };
    readonly postern_upstream_unreachable: {
        readonly status: 502;
        readonly what: 'the service could not be reached';
        readonly hint: 'check `upstream.url` and the network; `postern check` tries each step';
    };
    readonly postern_upstream_timeout: {
        readonly status: 504;
        readonly what: 'the service did not answer in time';
        readonly hint: 'try again; a send is safe to repeat with the same sendId';
    };
    readonly postern_upstream_invalid: {
        readonly status: 502;
        readonly what: 'the answer from `upstream.url` is not one of the service’s API';
        readonly hint: 'check that `upstream.url` is the service’s base URL and that no proxy answers in its place';
    };
    readonly postern_route_refused: {
        readonly status: 403;
        readonly what: 'this call is not passed to the service';
        readonly hint: 'this version does not know it, and its body might hold readable text; `routes.allowUnknown` passes it';
    };
    readonly postern_media_too_large: {
        readonly status: 413;
        readonly what: 'the file is larger than Postern opens';
        readonly hint: 'ask for a file of at most 64 MiB';
    };
    readonly postern_busy: {
        readonly status: 503;
        readonly what: 'too many calls are in progress';
        readonly hint: 'try again after the seconds in Retry-After';
    };
    readonly postern_browser_refused: {
        readonly status: 403;
        readonly what: 'the request comes from a web page';
        readonly hint: 'call from the bot itself, without Origin and Sec-Fetch headers';
    };
    readonly postern_host_refused: {
        readonly status: 421;
        readonly what: 'the Host header names an unknown host';
        readonly hint: 'call the address that Postern listens on, or add this name to `listen.allowedHosts`';
    };
};
/** A code of Postern's own, in the service's envelope. */
export type OwnCode = keyof typeof REFUSALS;
/** Codes of the service's that the sidecar also gives by itself, with their status. */
export declare const BORROWED: {
    readonly bad_request: 400;
    readonly wrong_body_kind: 400;
    readonly bad_webhook: 400;
    readonly chat_is_open: 400;
    readonly unauthorized: 401;
    readonly blocked_by_user: 403;
    readonly user_gone: 403;
    readonly not_found: 404;
    readonly chat_not_found: 404;
    readonly message_not_found: 404;
    readonly member_not_found: 404;
    readonly user_not_found: 404;
    readonly media_not_found: 404;
    readonly too_large: 413;
    readonly webhook_active: 409;
    readonly internal: 500;
};
/** A code of the service's that the sidecar may give in its place. */
export type BorrowedCode = keyof typeof BORROWED;
/** Fields beside status, code and message in the error object (spec, Error object). */
export interface ErrorExtra {
    expected?: 'text' | 'armored';
    retryAfter?: number;
}
/** Base of everything below. `code` is stable; `message` is for people and holds no one's words. */
export declare abstract class PosternError extends Error {
    abstract readonly code: string;
    constructor(message: string, options?: {
        cause?: unknown;
    });
}
/**
 * We decided not to. Becomes the service's error envelope.
 * @param code one of `REFUSALS`, or a code of the service's that holds here
 * @param detail what exactly, in addition to the table's sentence; never words of a person
 */
export declare class Refusal extends PosternError {
    readonly code: OwnCode | BorrowedCode;
    readonly status: number;
    readonly hint: string | undefined;
    readonly extra: ErrorExtra;
    constructor(code: OwnCode | BorrowedCode, detail?: string, options?: {
        extra?: ErrorExtra;
        cause?: unknown;
        status?: number;
    });
}
/** Nobody usable answered: unreachable, too late, or not in the service's language. */
export declare class NoResponseError extends Refusal {
}
/** An answer of the service kept as it came, so that it can be handed on byte for byte. */
export interface RawAnswer {
    status: number;
    /** Header names in lower case; only those that may be handed on. */
    headers: Record<string, string>;
    body: Buffer;
}
/**
 * The service said no, in its own envelope (spec, Errors).
 * `retryAfterSeconds` follows the spec's rule about header and body; undefined when not a 429.
 */
export declare class ServiceError extends PosternError {
    readonly code: string;
    readonly status: number;
    readonly expected: 'text' | 'armored' | undefined;
    readonly retryAfterSeconds: number | undefined;
    readonly answer: RawAnswer;
    constructor(said: {
        code: string;
        status: number;
        expected?: 'text' | 'armored' | undefined;
        retryAfterSeconds?: number | undefined;
        answer: RawAnswer;
    });
}
/** Why a command cannot go on, for the person at the terminal. */
export type OperatorCode = keyof typeof OPERATOR_REFUSALS;
/** The operator must act. The message says what exactly happened, and `hint` what to do about it. */
export declare class OperatorError extends PosternError {
    readonly code: OperatorCode;
    readonly hint: string;
    constructor(code: OperatorCode, message: string, hint?: string, options?: {
        cause?: unknown;
    });
    get exitCode(): 1 | 2;
}
/** True when `code` is one that a command ends with. */
export declare function isOperatorCode(code: string): code is OperatorCode;
/** True when `code` is one of the service's that the sidecar also gives by itself. */
export declare function isBorrowed(code: string): code is BorrowedCode;
/** True when `code` is one of Postern's own. */
export declare function isOwn(code: string): code is OwnCode;
