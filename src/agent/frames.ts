/**
 * The protocol between sidecar and agent: frames of a length, a number and a kind, over a socket of
 * the file system. README.md has it with examples.
 */
import type { Socket } from 'node:net'
import { CIPHER_NAMES, type HeldSessionKey } from '../openpgp/index.ts'

/** The version in each hello and its answer. */
export const PROTOCOL = 1

/** Kinds of questions. */
export const ASK = { hello: 0, sign: 1, unwrap: 2, make: 3 } as const
export type AskName = keyof typeof ASK

/** Kinds of answers. */
export const STATUS = { done: 0, unknownKey: 1, malformed: 2, tooMany: 3, failed: 4 } as const

export const FINGERPRINT_BYTES = 20
/** No recipient packet for a key that an agent has is longer. */
export const PACKET_MAX = 4096
/** Least bytes behind the length: number and kind. */
const HEAD_BYTES = 5
/** The largest question is a recipient packet, and the largest answer a certificate. */
const FRAME_MAX = 65_536

/** A question or an answer. */
export interface Frame {
  /** Of the question, given by the one who asks; the answer has the same. */
  id: number
  /** `ASK` of a question, `STATUS` of an answer. */
  kind: number
  /** A view that is zeroed once it was handled: it may be a session key. */
  body: Buffer
}

/** Writes a frame. */
export function writeFrame({ id, kind, body }: Omit<Frame, 'body'> & { body: Uint8Array }): Buffer {
  const frame = Buffer.allocUnsafe(4 + HEAD_BYTES + body.length)
  frame.writeUInt32BE(HEAD_BYTES + body.length)
  frame.writeUInt32BE(id, 4)
  frame[8] = kind
  frame.set(body, 4 + HEAD_BYTES)
  return frame
}

/**
 * Writes a frame at once, so that the other end begins; later ones of this turn of the loop leave
 * together.
 * @param onWritten when the socket is done with it
 */
export function writeTogether(socket: Socket, frame: Buffer, onWritten?: () => void): void {
  socket.write(frame, onWritten)
  if (socket.writableCorked > 0) return
  socket.cork()
  queueMicrotask(() => socket.uncork())
}

/** Cuts the bytes of a connection into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /**
   * Hands on each frame that is whole, and zeroes it afterwards.
   * @returns false for bytes that are no frame: nothing of the connection counts any more
   */
  read(chunk: Buffer, handle: (frame: Frame) => void): boolean {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32BE(at)
      if (length < HEAD_BYTES || length > FRAME_MAX) return false
      const end = at + 4 + length
      if (end > bytes.length) break
      const id = bytes.readUInt32BE(at + 4)
      handle({ id, kind: bytes[at + 8] ?? 0, body: bytes.subarray(at + 4 + HEAD_BYTES, end) })
      at = end
    }
    this.#rest = Buffer.from(bytes.subarray(at))
    bytes.fill(0)
    if (bytes !== chunk) chunk.fill(0)
    return true
  }
}

/** Ciphers of session keys as openpgp.js names them, by number (RFC 9580, 9.3); 0: none is named. */
const CIPHERS = new Map<number, string | null>([[0, null], ...CIPHER_NAMES])
const NUMBERS = new Map([...CIPHERS].map(([number, name]) => [name, number]))

/** Writes session keys: for each a cipher, a length, the key. They are zeroed. */
export function writeSessionKeys(keys: readonly HeldSessionKey[]): Buffer {
  const written = Buffer.concat(
    keys.flatMap(({ algorithm, data }) => {
      const number = NUMBERS.get(algorithm)
      return number === undefined ? [] : [Buffer.of(number, data.length), data]
    }),
  )
  for (const { data } of keys) data.fill(0)
  return written
}

/** Undoes `writeSessionKeys`, into memory of its own; null for other bytes. */
export function readSessionKeys(body: Buffer): HeldSessionKey[] | null {
  const keys: HeldSessionKey[] = []
  for (let at = 0; at < body.length;) {
    const algorithm = CIPHERS.get(body[at] ?? 1)
    const end = at + 2 + (body[at + 1] ?? 0)
    if (algorithm === undefined || end > body.length || end < at + 18) return null
    keys.push({ algorithm, data: Buffer.from(body.subarray(at + 2, end)) })
    at = end
  }
  return keys
}
