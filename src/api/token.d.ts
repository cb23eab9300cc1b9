/** `<prefix>_<bot_id>.<43 characters>` (spec, Authentication 2). */
export declare const TOKEN: RegExp;
/** The bot id that a token names, or null when it does not have a token's shape. */
export declare function botIdOf(token: string): number | null;
/**
 * The token in an Authorization header, or null. The scheme is compared without regard to case
 * (RFC 9110, 11.1); the token is taken as it stands, with one space before it.
 */
export declare function bearerOf(header: string | undefined): string | null;
