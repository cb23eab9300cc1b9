import type { Adopted, AdoptSecrets } from '../engine.ts';
/**
 * Reads a secret key, sees that the service and every reader can use it, and locks it anew.
 * @param file armored or binary
 * @param secrets `from` opens it, null when none was given; `to` locks what is given back;
 *   `certifiedBy` is the key before it, which then vouches for it
 * @returns why it cannot be the bot's, or the key; never throws for what the file holds
 */
export declare function adopt(file: Uint8Array, secrets: AdoptSecrets, nowMs: number): Promise<Adopted>;
