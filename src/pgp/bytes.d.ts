/** Bytes seen otherwise: the memory stays the same, nothing is copied. */
export declare function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer;
/** Lower-case hexadecimal characters, two a byte. */
export declare function hexOf(bytes: Uint8Array): string;
