/** Session keys as they are wrapped for a recipient (RFC 9580, 5.1.4 and 11.5). */
import { randomFillSync } from 'node:crypto'
import type { Cipher } from '../engine.ts'

/** Ciphers by number (RFC 9580, 9.3), with the bytes of their keys. */
export const CIPHERS = {
  7: { name: 'aes-128-cfb', keyBytes: 16 },
  8: { name: 'aes-192-cfb', keyBytes: 24 },
  9: { name: 'aes-256-cfb', keyBytes: 32 },
} as const
export type CipherId = keyof typeof CIPHERS

/** As the rest of `pgp/` names them. */
export const CIPHER_NAME = { 7: 'aes128', 8: 'aes192', 9: 'aes256' } as const satisfies Record<
  CipherId,
  string
>

export const CIPHER_ID = { aes128: 7, aes256: 9 } as const satisfies Record<Cipher, CipherId>

export interface SessionKey {
  cipher: CipherId
  /** To be zeroed after use. */
  data: Buffer
}

/** Makes a fresh one, in memory that threads can be let see: it is never copied to one. */
export function freshSessionKey(cipher: Cipher): SessionKey {
  const id = CIPHER_ID[cipher]
  return {
    cipher: id,
    data: randomFillSync(Buffer.from(new SharedArrayBuffer(CIPHERS[id].keyBytes))),
  }
}

export function isCipher(id: number): id is CipherId {
  return Object.hasOwn(CIPHERS, id)
}

/** Bytes of a key of so many bytes with what `padSessionKey` adds. */
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

function checksum(data: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < data.length; at++) sum += data[at] ?? 0
  return sum & 0xffff
}
