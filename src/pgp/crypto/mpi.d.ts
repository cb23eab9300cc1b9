/** Multiprecision integers (RFC 9580, 3.2), in their one canonical spelling. */
/**
 * Reads the integer at the start of some bytes, and gives it at a fixed size, zeros in front.
 * @returns the number and the bytes read; null when it is cut short, greater than `size` bytes,
 *   or not spelt canonically
 */
export declare function readMpi(bytes: Uint8Array, size: number): {
    number: Buffer;
    read: number;
} | null;
/**
 * The same into zeros, which it must fit.
 * @returns the bytes read, at least two; null as `readMpi`, with the zeros as they were
 */
export declare function readMpiInto(bytes: Uint8Array, number: Uint8Array): number | null;
/** Writes a number given in bytes, which may begin with zeros. */
export declare function writeMpi(number: Uint8Array): Buffer;
