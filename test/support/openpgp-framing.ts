/** Packet headers in every form of RFC 9580, 4.2, and armor with every freedom of section 6. */
import { concat, u16, u32 } from './openpgp-bytes.ts'

/** New format, shortest definite length. */
export function packet(tag: number, body: Uint8Array): Buffer {
  return concat(0xc0 | tag, definite(body.length), body)
}

/** New format, five-octet length whatever the size. */
export function longPacket(tag: number, body: Uint8Array): Buffer {
  return concat(0xc0 | tag, 255, u32(body.length), body)
}

/** Old format (tags 0 to 15); `lengthBytes` 0 is the indeterminate length. */
export function oldPacket(tag: number, body: Uint8Array, lengthBytes: 0 | 1 | 2 | 4): Buffer {
  const type = { 1: 0, 2: 1, 4: 2, 0: 3 }[lengthBytes]
  const length = Buffer.alloc(lengthBytes)
  if (lengthBytes > 0) length.writeUIntBE(body.length, 0, lengthBytes)
  return concat(0x80 | (tag << 2) | type, length, body)
}

/**
 * New format in partial chunks, the last one definite.
 * @param powers of two: the size of each chunk but the last
 */
export function partialPacket(tag: number, body: Uint8Array, powers: number[]): Buffer {
  const parts: (Uint8Array | number)[] = [0xc0 | tag]
  let at = 0
  for (const power of powers) {
    parts.push(224 + power, body.subarray(at, at + 2 ** power))
    at += 2 ** power
  }
  const rest = body.subarray(at)
  return concat(...parts, definite(rest.length), rest)
}

function definite(length: number): Buffer {
  if (length < 192) return concat(length)
  if (length < 8384) return u16(length - 192 + (192 << 8))
  return concat(255, u32(length))
}

export interface ArmorOptions {
  type?: string
  headers?: string[]
  checksum?: boolean
  endOfLine?: string
  lineChars?: number
}

/** ASCII armor (RFC 9580, 6.2), by default as most programs write it: checksum, 64 characters. */
export function armor(body: Uint8Array, options: ArmorOptions = {}): string {
  const { type = 'MESSAGE', headers = [], checksum = true } = options
  const { endOfLine = '\n', lineChars = 64 } = options
  const lines = Buffer.from(body)
    .toString('base64')
    .match(new RegExp(`.{1,${lineChars}}`, 'g'))
  return [
    `-----BEGIN PGP ${type}-----`,
    ...headers,
    '',
    ...(lines ?? []),
    ...(checksum ? [`=${crc24(body).toString('base64')}`] : []),
    `-----END PGP ${type}-----`,
    '',
  ].join(endOfLine)
}

/** The bytes of an armored block. */
export function dearmored(armored: string): Buffer {
  const body = armored.split(/\r?\n\r?\n/)[1] ?? ''
  const lines = body.split(/\r?\n/).filter((line) => !/^[=-]/.test(line))
  return Buffer.from(lines.join(''), 'base64')
}

/** CRC-24 by polynomial division, bit by bit (RFC 9580, 6.1). */
export function crc24(body: Uint8Array): Buffer {
  let register = 0xb704ce
  for (const octet of body) {
    for (let bit = 7; bit >= 0; bit--) {
      const carry = ((register >> 23) & 1) ^ ((octet >> bit) & 1)
      register = ((register << 1) & 0xffffff) ^ (carry === 1 ? 0x864cfb : 0)
    }
  }
  return concat((register >> 16) & 255, (register >> 8) & 255, register & 255)
}
