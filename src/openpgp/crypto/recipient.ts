/** Recipients of a message: their packets (RFC 9580, 5.1), and their keys as bytes for threads. */
import type { KeyObject } from 'node:crypto'
import { bufferOf } from '../bytes.ts'
import { framedLength, packetHeader } from '../format/packet-writer.ts'
import { TAG } from '../format/packets.ts'
import type {
  Ephemeral,
  PaddedSessionKey,
  RecipientAlgorithmId,
  RecipientPoint,
  WrappedSessionKey,
  RecipientKey,
} from './algorithm.ts'
import type { CipherId } from '../format/ciphers.ts'
import { fingerprintOf, findRecipientAlgorithm, recipientAlgorithm } from './public-key.ts'

/** The fields of a recipient packet. */
export interface RecipientForm extends WrappedSessionKey {
  /** 16 lower-case hexadecimal characters. */
  keyId: string
  algorithm: RecipientAlgorithmId
}

/** Our key that a packet is for. */
export interface RecipientSecret {
  key: Pick<RecipientPoint, 'algorithm' | 'point'>
  fingerprint: Uint8Array
  secret: KeyObject
}

/** The key id of a recipient that is not named. */
const ANONYMOUS = '0'.repeat(16)
const VERSION = 3
/** Bytes of version, key id and algorithm. */
const START = 10

/** Reads the body of a packet; null for every other form. */
export function readRecipient(body: Uint8Array): RecipientForm | null {
  const bytes = bufferOf(body)
  const algorithm = bytes[0] === VERSION ? findRecipientAlgorithm(bytes[START - 1]) : null
  const wrapped = algorithm?.readWrapped(bytes.subarray(START))
  if (!algorithm || !wrapped) return null
  return { keyId: bytes.toString('hex', 1, 9), algorithm: algorithm.id, ...wrapped }
}

/** Whether a packet is for a key: it names that or nobody, and is of the same algorithm. */
export function isFor({ keyId, algorithm }: RecipientForm, own: Omit<RecipientSecret, 'secret'>) {
  const ownId = Buffer.from(own.fingerprint).toString('hex', 12)
  return algorithm === own.key.algorithm && [ownId, ANONYMOUS].includes(keyId)
}

/**
 * The shared secret of our key and the sender's point, for `openRecipient`, which zeroes it; null
 * where the point is of low order.
 */
export const sharedWith = (form: RecipientForm, own: RecipientSecret): Buffer | null =>
  recipientAlgorithm(form.algorithm).agree(form, own.secret)

/**
 * Opens a packet with our key.
 * @param shared of `sharedWith`, with the same key
 * @returns the session key, to be zeroed after use; null when it does not open
 */
export function openRecipient(
  form: RecipientForm,
  own: RecipientSecret,
  shared = sharedWith(form, own),
): { cipher: number; data: Buffer } | null {
  if (shared === null) return null
  const { algorithm, point } = own.key
  const ours = { algorithm, point, fingerprint: own.fingerprint }
  return recipientAlgorithm(algorithm).unwrap(form, ours, shared)
}

/** Bytes of the packet that `writeRecipient` writes. @throws as `unpackRecipientKey` */
export const recipientBytes = (algorithm: number, cipher: CipherId): number =>
  framedLength(START + recipientAlgorithm(algorithm).wrappedBytes(cipher))

/**
 * Writes the packet that gives a recipient the session key.
 * @param ephemeral of the recipient's algorithm
 * @param to `target` and the place in it where the packet begins
 * @throws Error for a recipient whose key is not sound
 */
export function writeRecipient(
  sessionKey: PaddedSessionKey,
  ephemeral: Ephemeral,
  { recipient, target, at }: { recipient: RecipientPoint; target: Uint8Array; at: number },
): void {
  const { algorithm, fingerprint } = recipient
  const kind = recipientAlgorithm(algorithm)
  const header = packetHeader(TAG.pkesk, START + kind.wrappedBytes(sessionKey.cipher))
  const start = at + header.length
  target.set(header, at)
  target[start] = VERSION
  target.set(fingerprint.subarray(12), start + 1)
  target[start + START - 1] = algorithm
  kind.wrap(sessionKey, ephemeral, { recipient, target, at: start + START })
}

/** Algorithm and date of creation, before a point. */
const POINT_AT = 5

/** Puts keys one after the other: algorithm, date of creation, point. */
export function packRecipientKeys(keys: readonly RecipientKey[]): Buffer {
  const bytes = keys.reduce((sum, { point }) => sum + POINT_AT + point.length, 0)
  const packed = Buffer.from(new SharedArrayBuffer(bytes))
  let at = 0
  for (const { algorithm, createdS, point } of keys) {
    packed[at] = algorithm
    packed.writeUInt32BE(createdS, at + 1)
    packed.set(point, at + POINT_AT)
    at += POINT_AT + point.length
  }
  return packed
}

/** Where each of the keys begins. @throws as `unpackRecipientKey` */
export function recipientKeyStarts(packed: Uint8Array): number[] {
  const starts: number[] = []
  for (let at = 0; at < packed.length;) {
    starts.push(at)
    at += POINT_AT + recipientAlgorithm(packed[at] ?? 0).publicBytes
  }
  return starts
}

/** Gives one again. @throws Error for an algorithm that is not sealed to natively */
export function unpackRecipientKey(packed: Buffer, at: number): RecipientPoint {
  const { id: algorithm, publicBytes } = recipientAlgorithm(packed[at] ?? 0)
  const createdS = packed.readUInt32BE(at + 1)
  const point = packed.subarray(at + POINT_AT, at + POINT_AT + publicBytes)
  return { algorithm, point, fingerprint: fingerprintOf({ algorithm, createdS, point }) }
}
