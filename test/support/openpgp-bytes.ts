/** Bytes as OpenPGP writes them, for tests. Nothing here comes from `src/openpgp` or a library. */
import { createHash } from 'node:crypto'

/** Joins bytes, numbers below 256 and hexadecimal strings. */
export function concat(...parts: (Uint8Array | number | string)[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'number') return Buffer.from([part])
      return typeof part === 'string' ? Buffer.from(part, 'hex') : Buffer.from(part)
    }),
  )
}

export function u16(value: number): Buffer {
  const out = Buffer.alloc(2)
  out.writeUInt16BE(value)
  return out
}

export function u32(value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}

/** A multiprecision integer (RFC 9580, 3.2): bits, then the bytes without leading zeros. */
export function mpi(value: Uint8Array): Buffer {
  let start = 0
  while (start < value.length && value[start] === 0) start++
  const significant = Buffer.from(value.subarray(start))
  const top = significant[0] ?? 0
  const bits = top === 0 ? 0 : significant.length * 8 - Math.clz32(top) + 24
  return concat(u16(bits), significant)
}

export const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex')

/**
 * Bytes that look random and are the same in every run.
 * @param label what they are for; another label gives others
 */
export function seeded(label: string, length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update(`postern ${label}`).digest()
}
