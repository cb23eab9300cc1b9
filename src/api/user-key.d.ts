import { z } from 'zod';
/** A key record as it is written by us: the one way among the names that the spec leaves open. */
export interface UserKey {
    userId: number;
    /** As listed, in lower case; null when the record lists none. Never believed. */
    fingerprint: string | null;
    /** ASCII-armoured public key block as it came; null when the record holds none, or several. */
    publicKey: string | null;
}
/** Result of `GET /chats/{chatId}/keys`. `memberCount` is for groups only. */
export declare const ChatKeys: z.ZodObject<{
    keys: z.ZodArray<z.ZodObject<{}, z.core.$loose>>;
    memberCount: z.ZodOptional<z.ZodInt>;
}, z.core.$loose>;
/**
 * Reads a key record under whatever names it has (spec, Open points): the certificate is any
 * armored public key block in it, the id is `userId` or `user.id`, else `id`, which beside either
 * may be the record's own.
 * Gives null when it names nobody, or two people.
 */
export declare function readUserKey(record: unknown): UserKey | null;
/** Body of `PUT /key`. The service takes the fingerprint as given. */
export declare const PutKey: z.ZodObject<{
    publicKey: z.ZodString;
    fingerprint: z.ZodString;
}, z.core.$strict>;
export type PutKey = z.infer<typeof PutKey>;
