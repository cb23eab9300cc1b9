/** All that a request to the service carries; nothing of the bot's own headers is among it. */
export declare function requestHeaders(token: string, body: 'body' | 'none'): Record<string, string>;
/** The same for an attachment, which is public: no token goes there. */
export declare function mediaHeaders(): Record<string, string>;
/**
 * Which of an answer's headers may be handed on to the bot: all but the hop-by-hop ones (those
 * that `Connection` names included), lengths, cookies, CORS, transport policy, date, server, and
 * those under our own name.
 * @param received names in lower case; repeated lines as a list
 * @returns one line a name, repeated ones joined by a comma
 */
export declare function handedOn(received: Record<string, string | string[] | undefined>): Record<string, string>;
/**
 * The headers of a body that is UTF-8. A type that says otherwise would have a bot read other words
 * than we have: in UTF-7 a name such as `+ACI-` is a quotation mark.
 */
export declare function inUtf8(headers: Record<string, string>): Record<string, string>;
/** A header's value, repeated lines joined; empty when it is missing. */
export declare function joined(value: string | string[] | undefined): string;
