/**
 * Symmetrically Encrypted and Integrity Protected Data, version 1 (RFC 9580, 5.13.1), at once. Files
 * are opened piece by piece in `seipd-stream.ts`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'
import { cipherOf, type CipherInfo, type SymmetricKey } from '../format/ciphers.ts'

const VERSION = Buffer.from([1])
/** The random block is followed by its last two bytes again, the quick check. */
export const REPEATED = 2
/** Modification Detection Code packet: two header bytes and a SHA-1 hash. */
export const MDC_HEADER = Buffer.from([0xd3, 0x14])
export const MDC_BYTES = 22
/** Of AES, the ciphers that messages are opened and sealed with at once. */
const BLOCK = 16
const PREFIX = BLOCK + REPEATED
const NO_VECTOR = Buffer.alloc(BLOCK)

function aesOf(key: SymmetricKey): CipherInfo | null {
  const cipher = cipherOf(key)
  return cipher?.blockBytes === BLOCK ? cipher : null
}

/**
 * @param container the container's body
 * @returns the packets inside; null for a wrong session key or any changed bit: the packets are
 *   not read before the hash is verified
 */
export function openVersion1(container: Uint8Array, sessionKey: SymmetricKey): Uint8Array | null {
  const cipher = aesOf(sessionKey)
  if (cipher === null) return null
  if (container[0] !== 1 || container.length < 1 + PREFIX + MDC_BYTES) return null
  // A bare buffer for a key costs node:crypto ten microseconds more.
  const decipher = createDecipheriv(cipher.cfb, createSecretKey(sessionKey.data), NO_VECTOR)
  // In CFB mode `update` gives every byte, and `final` none.
  const plain = decipher.update(container.subarray(1))
  const end = plain.length - MDC_BYTES
  const computed = hash('sha1', plain.subarray(0, end + MDC_HEADER.length), 'buffer')
  const marked = plain[end] === MDC_HEADER[0] && plain[end + 1] === MDC_HEADER[1]
  const intact = timingSafeEqual(computed, plain.subarray(end + MDC_HEADER.length))
  return marked && intact ? plain.subarray(PREFIX, end) : null
}

/**
 * Undoes `openVersion1`: gives the container's body.
 * @param sessionKey used for no other data
 * @throws Error for another algorithm or a key of another size
 */
export function sealVersion1(packets: Uint8Array, sessionKey: SymmetricKey): Buffer {
  const cipher = aesOf(sessionKey)
  if (cipher === null) throw new Error('cipher')
  const plain = Buffer.alloc(PREFIX + packets.length + MDC_BYTES)
  randomFillSync(plain, 0, BLOCK)
  plain.copy(plain, BLOCK, BLOCK - REPEATED, BLOCK)
  plain.set(packets, PREFIX)
  const end = plain.length - MDC_BYTES
  plain.set(MDC_HEADER, end)
  const hashed = plain.subarray(0, end + MDC_HEADER.length)
  plain.set(hash('sha1', hashed, 'buffer'), hashed.length)
  const encipher = createCipheriv(cipher.cfb, createSecretKey(sessionKey.data), NO_VECTOR)
  const body = Buffer.concat([VERSION, encipher.update(plain)])
  plain.fill(0)
  return body
}
