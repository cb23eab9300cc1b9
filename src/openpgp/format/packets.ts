/** Packet framing (RFC 9580, 4.2): reading headers without parsing bodies, and writing them. */
import { BOUNDS } from '../bounds.ts'
import { numberAt } from '../bytes.ts'
import type { FramingReason, ReadFailure } from '../failure-reasons.ts'

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
  marker: 10,
  literal: 11,
  userId: 13,
  publicSubkey: 14,
  userAttribute: 17,
  seipd: 18,
  padding: 21,
} as const

/** The number of ML-KEM-768+X25519 (draft-ietf-openpgp-pqc, 2.1), which openpgp.js does not have. */
export const COMPOSITE = 35

export interface Packet {
  tag: number
  /** The body, de-framed: partial chunks joined. */
  body: Uint8Array
}

/** Carries why packets are read no further; its message is the reason. */
export class ReadError extends Error {
  readonly failure: ReadFailure

  constructor(failure: ReadFailure) {
    super(failure.reason)
    this.failure = failure
  }
}

/** Thrown for framing that is refused. */
export class FramingError extends ReadError {
  constructor(reason: FramingReason) {
    super({ outcome: 'damaged', reason })
  }
}

/** The failure that an error carries; throws any other error. */
export function failureOf(error: unknown): ReadFailure {
  if (error instanceof ReadError) return error.failure
  throw error
}

/** Whether a packet holds a secret key. */
export const isSecret = (tag: number): boolean => tag === TAG.secretKey || tag === TAG.secretSubkey

/** Packets of this range that are unknown may be passed over (RFC 9580, 4.3). */
export const isIgnorable = (tag: number): boolean =>
  tag === TAG.marker || tag === TAG.padding || (tag >= 40 && tag <= 63)

/** A length in a packet header (RFC 9580, 4.2). */
export interface PacketLength {
  /** Of the body, or of a chunk that others follow; Infinity for a body that runs to the end. */
  bytes: number
  partial: boolean
  /** How many bytes encode the length. */
  size: number
}

/** How many bytes encode a length of the new format, by its first byte (RFC 9580, 4.2.1). */
export function newLengthSize(first: number): number {
  if (first < 192 || (first >= 224 && first < 255)) return 1
  return first === 255 ? 5 : 2
}

/** Reads a length of the new format at `at`. @throws FramingError when it is cut short */
export function newLength(bytes: Uint8Array, at: number): PacketLength {
  const first = bytes[at] ?? 0
  const size = newLengthSize(first)
  if (at + size > bytes.length) throw new FramingError('length')
  if (size === 5) return { bytes: numberAt(bytes, at + 1, 4), partial: false, size }
  if (size === 2) {
    return { bytes: ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192, partial: false, size }
  }
  return first < 192
    ? { bytes: first, partial: false, size }
    : { bytes: 2 ** (first & 0x1f), partial: true, size }
}

/** How many bytes encode a length of the old format, by the packet's header (RFC 9580, 4.2.2). */
export const oldLengthSize = (header: number): number =>
  (header & 3) === 3 ? 0 : 1 << (header & 3)

/**
 * Reads a length of the old format at `at`; the indeterminate one runs to the end and is for data
 * packets alone.
 * @throws FramingError when it is cut short, or may not be there
 */
export function oldLength(header: number, bytes: Uint8Array, at: number): PacketLength {
  const size = oldLengthSize(header)
  if (size > 0) {
    if (at + size > bytes.length) throw new FramingError('length')
    return { bytes: numberAt(bytes, at, size), partial: false, size }
  }
  const tag = tagOf(header)
  if (tag !== TAG.compressed && tag !== TAG.literal) throw new FramingError('indeterminate')
  return { bytes: Infinity, partial: false, size }
}

export const isNewFormat = (header: number): boolean => (header & 0x40) !== 0

/** The type in a header's first byte. @throws FramingError when that begins no packet */
export function tagOf(header: number): number {
  if ((header & 0x80) === 0) throw new FramingError('header')
  return isNewFormat(header) ? header & 0x3f : (header >> 2) & 0x0f
}

/**
 * Holds the chunks of a body to their bounds (RFC 9580, 4.2.1.4): partial lengths are for data
 * packets, and the first is of 512 bytes or more.
 * @param count of chunks with this one
 * @throws FramingError
 */
export function checkChunk(tag: number, { bytes, partial }: PacketLength, count: number): void {
  if (partial && count === 1 && bytes < BOUNDS.firstChunk) throw new FramingError('partial-length')
  if (partial && !PARTIAL.has(tag)) throw new FramingError('partial-tag')
  if (count > BOUNDS.partialChunks) throw new FramingError('partial-count')
}

const PARTIAL: ReadonlySet<number> = new Set([TAG.literal, TAG.compressed, TAG.seipd])

/** Type of the packet that begins at `at`, where its body begins, and its first length. @throws */
export function headerAt(
  bytes: Uint8Array,
  at: number,
): { tag: number; start: number; length: PacketLength } {
  const header = bytes[at] ?? 0
  const tag = tagOf(header)
  const length = isNewFormat(header) ? newLength(bytes, at + 1) : oldLength(header, bytes, at + 1)
  return { tag, start: at + 1 + length.size, length }
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

/** The first packets of a sequence, at most so many; null where framing is refused. */
export function listPackets(bytes: Uint8Array, most = Infinity): Packet[] | null {
  const packets: Packet[] = []
  try {
    for (const packet of packetsOf(bytes)) if (packets.push(packet) === most) break
  } catch (error) {
    if (error instanceof FramingError) return null
    throw error
  }
  return packets
}

/** The packet that begins at `at`, and where the next one does. @throws as `packetsOf` */
export function packetAt(bytes: Uint8Array, at: number): Packet & { next: number } {
  const { tag, start, length } = headerAt(bytes, at)
  if (length.partial) return inChunks(bytes, at + 1, tag)
  const next = length.bytes === Infinity ? bytes.length : start + length.bytes
  if (next > bytes.length) throw new FramingError('length')
  return { tag, body: bytes.subarray(start, next), next }
}

/** RFC 9580, 4.2.1.4. */
function inChunks(bytes: Uint8Array, at: number, tag: number): Packet & { next: number } {
  const parts: Uint8Array[] = []
  let next = at
  for (;;) {
    const length = newLength(bytes, next)
    checkChunk(tag, length, parts.length + 1)
    const start = next + length.size
    next = start + length.bytes
    if (next > bytes.length) throw new FramingError('length')
    parts.push(bytes.subarray(start, next))
    if (!length.partial) return { tag, body: Buffer.concat(parts), next }
  }
}
