/** Copies of bytes that differ in one place. */

/** A copy with one byte changed. @param at from the start, or from the end where negative */
export function flipByte(bytes: Uint8Array, at: number, by = 1): Buffer {
  const copy = Buffer.from(bytes)
  const index = at < 0 ? copy.length + at : at
  copy[index] = (copy[index] ?? 0) ^ by
  return copy
}

/** A copy with one bit flipped. */
export const flipBit = (bytes: Uint8Array, bit: number): Buffer =>
  flipByte(bytes, bit >> 3, 1 << (bit & 7))
