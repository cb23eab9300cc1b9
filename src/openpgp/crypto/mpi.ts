/** Multiprecision integers (RFC 9580, 3.2), in their one canonical spelling. */

/**
 * Reads the integer at the start of some bytes, and gives it at a fixed size, zeros in front.
 * @returns the number and the bytes read; null when it is cut short, greater than `size` bytes,
 *   or not spelt canonically
 */
export function readMpi(bytes: Uint8Array, size: number): { number: Buffer; read: number } | null {
  const number = Buffer.alloc(size)
  const read = readMpiInto(bytes, number)
  return read === null ? null : { number, read }
}

/**
 * The same into zeros, which it must fit.
 * @returns the bytes read, at least two; null as `readMpi`, with the zeros as they were
 */
export function readMpiInto(bytes: Uint8Array, number: Uint8Array): number | null {
  const bits = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)
  const length = (bits + 7) >> 3
  if (length > number.length || bytes.length < 2 + length) return null
  if (length > 0 && 32 - Math.clz32(bytes[2] ?? 0) !== bits - 8 * (length - 1)) return null
  number.set(bytes.subarray(2, 2 + length), number.length - length)
  return 2 + length
}

/** Writes a number given in bytes, which may begin with zeros. */
export function writeMpi(number: Uint8Array): Buffer {
  let start = 0
  while (number[start] === 0) start++
  const significant = number.subarray(start)
  const top = significant[0] ?? 0
  const bits = significant.length === 0 ? 0 : significant.length * 8 - Math.clz32(top) + 24
  const out = Buffer.alloc(2 + significant.length)
  out.writeUInt16BE(bits)
  out.set(significant, 2)
  return out
}
