/** Every bound of a local door, each with its reason (SECURITY 2.2). Times in ms, sizes in bytes. */
export interface DoorBounds {
    /** From the connection, or the last answer's follow-up, to the end of the headers. */
    headersMs: number;
    /** From the first byte to the last of a request. */
    requestMs: number;
    /** How often Node looks for connections that overran the two above. */
    checkMs: number;
    /** How long an idle connection is kept for the next request. */
    keepAliveMs: number;
    /** How long a connection may be without any byte, either way. */
    silenceMs: number;
    /** From the end of the headers to our answer. */
    answerMs: number;
    /** How long requests under way may take once we are stopping. */
    drainMs: number;
    connections: number;
    requestsPerConnection: number;
    headerBytes: number;
    headerLines: number;
    pathChars: number;
    bodyBytes: number;
}
export declare const DOOR_BOUNDS: DoorBounds;
