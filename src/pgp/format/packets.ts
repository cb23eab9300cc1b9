/** Packet framing (RFC 9580, 4.2): reading headers without parsing bodies, and writing them. */
import { BOUNDS } from '../bounds.ts'

/** Packet types by number (RFC 9580, 5). */
export const TAG = {
  pkesk: 1,
  signature: 2,
  skesk: 3,
  onePassSignature: 4,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  compressed: 8,
  symmetricallyEncrypted: 9,
  marker: 10,
  literal: 11,
  trust: 12,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
  seipd: 18,
  padding: 21,
} as const

export interface Packet {
  tag: number
  /** The body, de-framed: partial chunks joined. */
  body: Uint8Array
}

/** Thrown for framing that is refused; the message names the reason, never content. */
export class FramingError extends Error {}

/** Packets of this range that are unknown may be passed over (RFC 9580, 4.3). */
export function isIgnorable(tag: number): boolean {
  return tag === TAG.marker || tag === TAG.padding || (tag >= 40 && tag <= 63)
}

/**
 * Gives the packets of a binary sequence, one at a time and without copying whole bodies.
 * @throws FramingError for a bad header, a length beyond the end, or chunks outside the bounds
 */
export function* packetsOf(bytes: Uint8Array): Generator<Packet> {
  for (let at = 0; at < bytes.length;) {
    const packet = packetAt(bytes, at)
    at = packet.next
    yield packet
  }
}

/** The packet that begins at `at`, and where the next one does. @throws as `packetsOf` */
export function packetAt(bytes: Uint8Array, at: number): Packet & { next: number } {
  const first = bytes[at] ?? 0
  if ((first & 0x80) === 0) throw new FramingError('header')
  if ((first & 0x40) === 0) return oldFormat(bytes, at + 1, first)
  const { length, start, partial } = lengthAt(bytes, at + 1)
  const tag = first & 0x3f
  if (partial) return inChunks(bytes, at + 1, tag)
  return { tag, body: slice(bytes, start, length), next: start + length }
}

/** RFC 9580, 4.2.2; the indeterminate length runs to the end and is for data packets alone. */
function oldFormat(bytes: Uint8Array, at: number, first: number): Packet & { next: number } {
  const tag = (first >> 2) & 0x0f
  const lengthType = first & 3
  if (lengthType === 3) {
    if (tag !== TAG.compressed && tag !== TAG.literal) throw new FramingError('indeterminate')
    return { tag, body: bytes.subarray(at), next: bytes.length }
  }
  const lengthBytes = 1 << lengthType
  if (at + lengthBytes > bytes.length) throw new FramingError('length')
  const length = Buffer.from(bytes.subarray(at, at + lengthBytes)).readUIntBE(0, lengthBytes)
  const start = at + lengthBytes
  return { tag, body: slice(bytes, start, length), next: start + length }
}

/** RFC 9580, 4.2.1.4. */
function inChunks(bytes: Uint8Array, at: number, tag: number): Packet & { next: number } {
  const parts: Uint8Array[] = []
  let next = at
  for (;;) {
    const { length, start, partial } = lengthAt(bytes, next)
    if (partial && length < BOUNDS.partialChunkMin) throw new FramingError('partial-length')
    if (partial && !takesPartial(tag)) throw new FramingError('partial-tag')
    if (parts.length >= BOUNDS.partialChunks) throw new FramingError('partial-count')
    parts.push(slice(bytes, start, length))
    next = start + length
    if (!partial) return { tag, body: Buffer.concat(parts), next }
  }
}

/** Partial lengths are for data packets (RFC 9580, 4.2.1.4). */
export function takesPartial(tag: number): boolean {
  return tag === TAG.literal || tag === TAG.compressed || tag === TAG.seipd
}

function lengthAt(
  bytes: Uint8Array,
  at: number,
): { length: number; start: number; partial: boolean } {
  const first = bytes[at]
  if (first === undefined) throw new FramingError('length')
  if (first < 192) return { length: first, start: at + 1, partial: false }
  if (first >= 224 && first < 255) {
    return { length: 2 ** (first & 0x1f), start: at + 1, partial: true }
  }
  const second = bytes[at + 1]
  if (first < 224) {
    if (second === undefined) throw new FramingError('length')
    return { length: ((first - 192) << 8) + second + 192, start: at + 2, partial: false }
  }
  if (at + 5 > bytes.length) throw new FramingError('length')
  const length = Buffer.from(bytes.subarray(at + 1, at + 5)).readUInt32BE(0)
  return { length, start: at + 5, partial: false }
}

function slice(bytes: Uint8Array, start: number, length: number): Uint8Array {
  if (start + length > bytes.length) throw new FramingError('length')
  return bytes.subarray(start, start + length)
}

/** Writes one packet in the new format with a definite length (RFC 9580, 4.2.1). */
export function framePacket(tag: number, body: Uint8Array): Buffer {
  const header = packetHeader(tag, body.length)
  const packet = Buffer.allocUnsafe(header.length + body.length)
  packet.set(header)
  packet.set(body, header.length)
  return packet
}

/** Bytes of what `framePacket` makes of a body of so many. */
export function framedLength(length: number): number {
  return packetHeader(0, length).length + length
}

/** How a body is framed: with one length, or in partial chunks (RFC 9580, 4.2.1.4). */
export type Framing = 'whole' | 'partial'

/** Log2 of a partial chunk's bytes. */
const CHUNK = 16

/** Frames a body that comes in parts, without joining them: gives the packet in parts. */
export function framedParts(tag: number, parts: Uint8Array[], framing: Framing): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const size = 2 ** CHUNK
  if (framing === 'whole' || length < size) return [packetHeader(tag, length), ...parts]
  const body = Buffer.concat(parts)
  const framed: Uint8Array[] = [Buffer.of(0xc0 | tag)]
  let at = 0
  for (; at + size <= length; at += size) {
    framed.push(Buffer.of(0xe0 | CHUNK), body.subarray(at, at + size))
  }
  return [...framed, packetHeader(tag, length - at).subarray(1), body.subarray(at)]
}

function packetHeader(tag: number, length: number): Buffer {
  const first = 0xc0 | tag
  if (length < 192) return Buffer.from([first, length])
  if (length < 8384) {
    const rest = length - 192
    return Buffer.from([first, (rest >> 8) + 192, rest & 0xff])
  }
  const header = Buffer.alloc(6)
  header[0] = first
  header[1] = 255
  header.writeUInt32BE(length, 2)
  return header
}
