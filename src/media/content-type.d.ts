/** How much of a file is looked at. */
export declare const TYPE_BYTES = 512;
/**
 * The media type of a file by its first bytes. Only what is known to be harmless in a browser has a
 * type of its own; all else is `application/octet-stream`.
 */
export declare function contentTypeOf(head: Uint8Array): string;
