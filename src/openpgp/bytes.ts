/** Bytes read otherwise: as a buffer, in hexadecimal, as numbers. Views share their memory. */

export const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length)

/** Lower-case hexadecimal characters, two a byte. */
export const hexOf = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex')

/** Reads an unsigned big-endian number of `count` bytes. */
export function numberAt(bytes: Uint8Array, at: number, count: number): number {
  let number = 0
  for (let next = at; next < at + count; next++) number = number * 256 + (bytes[next] ?? 0)
  return number
}

/**
 * Reads the integer at the start of some bytes into zeros, at their end.
 * @returns the bytes read, at least two; null when it is cut short, greater than the zeros, or not
 *   spelt canonically, with the zeros as they were
 */
export function readMpi(bytes: Uint8Array, number: Uint8Array): number | null {
  const bits = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
  const length = (bits + 7) >> 3
  if (length > number.length || bytes.length < 2 + length) return null
  if (length > 0 && 32 - Math.clz32(bytes[2] ?? 0) !== bits - 8 * (length - 1)) return null
  number.set(bytes.subarray(2, 2 + length), number.length - length)
  return 2 + length
}

/** The sum of bytes, modulo 65536 (RFC 9580, 5.1.3 and 5.5.3). */
export function checksum(data: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < data.length; at++) sum += data[at] ?? 0
  return sum & 0xffff
}
