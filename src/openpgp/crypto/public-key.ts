/** Public keys of version 4 of the kinds that are used natively (RFC 9580, 5.5.2 and 5.5.5). */
import { hash } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { bytesOf, keyOver } from '../format/packet-writer.ts'
import type { NativePublicKey } from './algorithm.ts'
import { algorithmOf, findRecipientAlgorithm, findSignatureAlgorithm } from './algorithms.ts'

/** Bytes of version and creation time, before the algorithm. */
const START = 5

/** Reads the public part at the start of a key packet's body; null for every other form. */
export function readPublicKey(body: Uint8Array): { key: NativePublicKey; read: number } | null {
  const bytes = bufferOf(body)
  const kind = findRecipientAlgorithm(bytes[START]) ?? findSignatureAlgorithm(bytes[START])
  if (bytes[0] !== 4 || kind === null) return null
  const { before, after, publicBytes } = kind
  const at = START + 1
  const start = at + before.length
  const end = start + publicBytes
  const read = end + after.length
  if (bytes.length < read) return null
  if (!bytes.subarray(at, start).equals(before)) return null
  if (!bytes.subarray(end, read).equals(after)) return null
  const key = {
    algorithm: kind.id,
    createdS: bytes.readUInt32BE(1),
    point: bytes.subarray(start, end),
  }
  return { key: key as NativePublicKey, read }
}

/** The same for a body that holds nothing else. */
export function publicKeyOf(body: Uint8Array): NativePublicKey | null {
  const found = readPublicKey(body)
  return found !== null && found.read === body.length ? found.key : null
}

/** Undoes `readPublicKey`. */
export function publicKeyBody(key: NativePublicKey): Buffer {
  const { before, after } = algorithmOf(key)
  const start = [Buffer.of(4), bytesOf(key.createdS, 4), Buffer.of(key.algorithm)]
  return Buffer.concat([...start, before, key.point, after])
}

/** A key's fingerprint, 20 bytes; the last 8 are its key id (RFC 9580, 5.5.4.2). */
export function fingerprintOf(key: NativePublicKey): Buffer {
  return hash('sha1', keyOver(publicKeyBody(key)), 'buffer')
}
