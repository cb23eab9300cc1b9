import type { Logger } from 'pino';
export type Log = Logger;
/** A secret that may change while the log lives (a token file that was read again). */
interface Revealable {
    reveal(): string;
}
/**
 * Makes the log.
 * @param o `level` a name of pino's, or `silent`; `pretty` lines for people instead of JSON;
 *   `secrets` what must never appear (a `SecretSource` is asked anew for each line);
 *   `hashIdsWith` shows ids of chats, people, messages and updates as keyed hashes, the same for the
 *   same key
 * @returns a pino logger that writes at once, and drops lines rather than fail when nobody reads
 */
export declare function createLogger(o: {
    level: string;
    pretty: boolean;
    secrets?: readonly (string | Revealable)[];
    hashIdsWith?: string;
}): Log;
export {};
