/**
 * Public keys of version 4 (RFC 9580, 5.5.2 and 5.5.5), and the kinds of them that are used natively
 * by their numbers; a new one is added here.
 */
import { hash } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { bytesOf, keyOver } from '../format/packet-writer.ts'
import type {
  NativePublicKey,
  RecipientAlgorithm,
  RecipientKey,
  SignatureAlgorithm,
  SigningKey,
} from './algorithm.ts'
import { ECDH } from './ecdh.ts'
import { ED25519, EDDSA_LEGACY } from './ed25519.ts'
import { ML_KEM_768_X25519 } from './ml-kem.ts'
import { X25519 } from './x25519.ts'

const RECIPIENTS = new Map<number | undefined, RecipientAlgorithm>(
  [ECDH, X25519, ML_KEM_768_X25519].map((one) => [one.id, one]),
)
const SIGNATURES = new Map<number | undefined, SignatureAlgorithm>(
  [EDDSA_LEGACY, ED25519].map((one) => [one.id, one]),
)

/** The kind of key with a number; null where nothing is sealed to such keys natively. */
export const findRecipientAlgorithm = (id?: number): RecipientAlgorithm | null =>
  RECIPIENTS.get(id) ?? null

/** The kind of key with a number; null where such signatures are not verified natively. */
export const findSignatureAlgorithm = (id?: number): SignatureAlgorithm | null =>
  SIGNATURES.get(id) ?? null

/** @throws Error for an algorithm that is not sealed to natively */
export const recipientAlgorithm = (id: number): RecipientAlgorithm => needed(RECIPIENTS.get(id))

/** @throws Error for an algorithm that is not verified natively */
export const signatureAlgorithm = (id: number): SignatureAlgorithm => needed(SIGNATURES.get(id))

function needed<A>(found: A | undefined): A {
  if (found === undefined) throw new Error('algorithm')
  return found
}

/** The kind of a key. */
export const algorithmOf = ({ algorithm }: NativePublicKey) =>
  findRecipientAlgorithm(algorithm) ?? signatureAlgorithm(algorithm)

export const isRecipientKey = (key: NativePublicKey | null): key is RecipientKey =>
  RECIPIENTS.has(key?.algorithm)

export const isSigningKey = (key: NativePublicKey | null): key is SigningKey =>
  SIGNATURES.has(key?.algorithm)

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
export const fingerprintOf = (key: NativePublicKey): Buffer =>
  hash('sha1', keyOver(publicKeyBody(key)), 'buffer')
