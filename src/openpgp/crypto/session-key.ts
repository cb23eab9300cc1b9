/** Session keys, and how they are wrapped for a recipient (RFC 9580, 5.1.4 and 11.5). */
import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from 'node:crypto'
import { checksum } from '../bytes.ts'
import { type Cipher, CIPHERS, isCipher, keyBytesOf, type CipherId } from '../format/ciphers.ts'
import type { PaddedSessionKey, RecipientAlgorithm, RecipientPoint } from './algorithm.ts'

export interface SessionKey {
  cipher: CipherId
  /** To be zeroed after use. */
  data: Buffer
}

/** Makes a fresh one, in memory that threads can be let see: it is never copied to one. */
export function freshSessionKey(cipher: Cipher): SessionKey {
  const id = CIPHERS[cipher].id
  return { cipher: id, data: randomFillSync(Buffer.from(new SharedArrayBuffer(keyBytesOf(id)))) }
}

/** Bytes of a key after `padSessionKey`. */
export function paddedLength(keyBytes: number): number {
  const length = 1 + keyBytes + 2
  return length + 8 - (length % 8)
}

/** With its cipher, a checksum, and padding to a multiple of 8 bytes; to be zeroed after use. */
export function padSessionKey({ cipher, data }: { cipher: number; data: Uint8Array }): Buffer {
  const length = paddedLength(data.length)
  const padded = Buffer.alloc(length, length - data.length - 3)
  padded[0] = cipher
  padded.set(data, 1)
  padded.writeUInt16BE(checksum(data), 1 + data.length)
  return padded
}

/** Undoes `padSessionKey` for any cipher; null when padding or checksum are not right. */
export function unpadSessionKey(padded: Buffer): { cipher: number; data: Buffer } | null {
  const padding = padded.at(-1) ?? 0
  const length = padded.length - padding
  if (padding === 0 || length < 4) return null
  for (let at = length; at < padded.length; at++) if (padded[at] !== padding) return null
  const data = padded.subarray(1, length - 2)
  if (padded.readUInt16BE(length - 2) !== checksum(data)) return null
  return { cipher: padded[0] ?? 0, data }
}

/** AES key wrap (RFC 3394) by the length of the key that wraps. */
const KEY_WRAP: Readonly<Record<number, string>> = { 16: 'id-aes128-wrap', 32: 'id-aes256-wrap' }
const INITIAL = Buffer.alloc(8, 0xa6)

/** Bytes of a key after `wrapKey`. */
export const wrappedLength = (bytes: number): number => bytes + 8

/**
 * Wraps data of a multiple of 8 bytes; gives 8 bytes more.
 * @param key serves this once: it is zeroed
 * @throws Error for a key of another length
 */
export function wrapKey(key: Uint8Array, data: Uint8Array): Buffer {
  // A bare buffer for a key costs node:crypto ten microseconds more.
  const cipher = createCipheriv(keyWrap(key), createSecretKey(key), INITIAL)
  key.fill(0)
  // That is all of it: nothing is left for `final`, which would cost a microsecond.
  return cipher.update(data)
}

/** Undoes `wrapKey`, and zeroes the key too; null for a wrong one, or bytes that it did not write. */
export function unwrapKey(key: Uint8Array, wrapped: Uint8Array): Buffer | null {
  try {
    const decipher = createDecipheriv(keyWrap(key), createSecretKey(key), INITIAL)
    // It throws where the check fails, and leaves nothing for `final`.
    const data = decipher.update(wrapped)
    return data.length === wrapped.length - 8 ? data : null
  } catch {
    return null
  } finally {
    key.fill(0)
  }
}

const keyWrap = (key: Uint8Array): string => KEY_WRAP[key.length] ?? ''

/**
 * Session keys as X25519 and ML-KEM write them: behind the sender's points and ciphertexts their
 * length, the cipher, which is not encrypted, and the wrapped key.
 * @param sealedBytes of points and ciphertexts
 * @param derive gives the wrapping key, and zeroes the shared secret
 */
export const withOpenCipher = (
  sealedBytes: number,
  derive: (shared: Buffer, sealed: Uint8Array, point: Uint8Array) => Buffer,
) =>
  ({
    wrappedBytes: (cipher) => sealedBytes + 2 + wrappedLength(keyBytesOf(cipher)),

    readWrapped(bytes) {
      const cipher = bytes[sealedBytes + 1] ?? 0
      // Only AES, and a key of its length: the cipher is not encrypted.
      if (!isCipher(cipher)) return null
      const length = 1 + wrappedLength(keyBytesOf(cipher))
      // The byte behind the points and ciphertexts is the length of the rest, which ends the packet.
      if (bytes[sealedBytes] !== length || bytes.length !== sealedBytes + 1 + length) return null
      const wrapped = bytes.subarray(sealedBytes + 2)
      return { ephemeral: bytes.subarray(0, sealedBytes), cipher, wrapped }
    },

    unwrap({ ephemeral, cipher, wrapped }, own, shared) {
      const data = unwrapKey(derive(shared, ephemeral, own.point), wrapped)
      return data === null || cipher === null ? null : { cipher, data }
    },

    /** Wraps with a shared secret. @param sealed points and ciphertexts */
    write: (
      { cipher, data }: PaddedSessionKey,
      { shared, sealed }: { shared: Buffer; sealed: Uint8Array },
      { recipient, target, at }: { recipient: RecipientPoint; target: Uint8Array; at: number },
    ): void => {
      const wrapped = wrapKey(derive(shared, sealed, recipient.point), data)
      target.set(sealed, at)
      target[at + sealedBytes] = wrapped.length + 1
      target[at + sealedBytes + 1] = cipher
      target.set(wrapped, at + sealedBytes + 2)
    },
  }) satisfies Partial<RecipientAlgorithm> & { write: unknown }
