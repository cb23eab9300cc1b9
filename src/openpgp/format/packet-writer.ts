/** Packets, subpackets and integers as they are written (RFC 9580, 3.2, 4.2.1 and 5.2.3.7). */
import { hash } from 'node:crypto'

/** Subpackets that are read or written anywhere here, by number (RFC 9580, 5.2.3.7). */
export const SUBPACKET = {
  created: 2,
  keyExpires: 9,
  preferredCiphers: 11,
  issuer: 16,
  notation: 20,
  keyFlags: 27,
  signerUserId: 28,
  issuerFingerprint: 33,
  intendedRecipient: 35,
} as const

/** Writes an unsigned big-endian number in `count` bytes. */
export function bytesOf(number: number, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  bytes.writeUIntBE(number, 0, count)
  return bytes
}

/** Writes one packet in the new format with a definite length (RFC 9580, 4.2.1). */
export function framePacket(tag: number, body: Uint8Array): Buffer {
  const header = packetHeader(tag, body.length)
  const packet = Buffer.allocUnsafe(header.length + body.length)
  packet.set(header)
  packet.set(body, header.length)
  return packet
}

/** Bytes of a body of so many after `framePacket`. */
export const framedLength = (length: number): number => packetHeader(0, length).length + length

/** The header of a packet with a body of so many bytes. */
export function packetHeader(tag: number, length: number): Buffer {
  const first = 0xc0 | tag
  if (length < 192) return Buffer.from([first, length])
  if (length < 8384) {
    const rest = length - 192
    return Buffer.from([first, (rest >> 8) + 192, rest & 0xff])
  }
  return Buffer.concat([Buffer.of(first, 255), bytesOf(length, 4)])
}

/** Begins a fingerprint in a subpacket. */
export const VERSION_4 = Buffer.from([4])

/** Writes a subpacket of fewer than 192 bytes (RFC 9580, 5.2.3.7). */
export function subpacket(kind: number, parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 1)
  return Buffer.concat([Buffer.from([length, kind]), ...parts])
}

/** Subpackets behind their length in two bytes. */
export function subpacketArea(subpackets: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(subpackets)
  return Buffer.concat([bytesOf(bytes.length, 2), bytes])
}

/**
 * Subpackets that name a message's recipients in its signature (RFC 9580, 5.2.3.36).
 * @param fingerprints of version 4 primary keys, hexadecimal
 */
export const recipientNames = (fingerprints: readonly string[]): Buffer =>
  Buffer.concat(
    fingerprints.map((one) =>
      subpacket(SUBPACKET.intendedRecipient, [VERSION_4, Buffer.from(one, 'hex')]),
    ),
  )

/** The trailer that is hashed after a signature's hashed part: its length (RFC 9580, 5.2.4). */
export const trailerOf = (hashedPart: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(4, 0xff), bytesOf(hashedPart.length, 4)])

/**
 * The identity of a signed statement: its hashed bytes, not the signature's own numbers, which
 * anybody can change for some algorithms.
 * @param documentDigest SHA-256 of the document as the signature's type hashes it
 */
export const statementDigest = (documentDigest: Uint8Array, hashedPart: Uint8Array): string =>
  hash('sha256', Buffer.concat([documentDigest, hashedPart]), 'hex')

/** Writes a number given in bytes, which may begin with zeros. */
export function writeMpi(number: Uint8Array): Buffer {
  let start = 0
  while (number[start] === 0) start++
  const significant = number.subarray(start)
  const top = significant[0] ?? 0
  const bits = significant.length === 0 ? 0 : significant.length * 8 - Math.clz32(top) + 24
  return Buffer.concat([bytesOf(bits, 2), significant])
}

/** A key's body as signatures and its fingerprint are computed over it (RFC 9580, 5.2.4). */
export const keyOver = (body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(0x99), bytesOf(body.length, 2), body])

/** The same of a user id. */
export const userIdOver = (userId: Uint8Array): Buffer =>
  Buffer.concat([Buffer.of(0xb4), bytesOf(userId.length, 4), userId])
