/** The secrets of an unlocked key, as far as they are of the common forms (RFC 9580, 5.5.3). */
import type { KeyObject } from 'node:crypto'
import { checksum } from '../bytes.ts'
import type { NativePublicKey, RecipientKey } from '../crypto/algorithm.ts'
import { algorithmOf, isRecipientKey } from '../crypto/algorithms.ts'
import { fingerprintOf, readPublicKey } from '../crypto/public-key.ts'
import type { UnlockedKey } from '../engine.ts'
import { TAG, isSecret, packetsOf, type Packet } from '../format/packets.ts'
import { ownBytes } from '../size.ts'
import { readCommonPackets } from './common-certificate.ts'
import type { OwnKeyInfo } from '../certificate-info.ts'

/** One secret key, primary or subkey, as a key of node:crypto. */
export interface OwnSecret<K extends NativePublicKey = NativePublicKey> {
  key: K
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  secret: KeyObject
}

/** Whether the secret decrypts messages, rather than signs. */
export function isRecipientSecret<T extends { key: NativePublicKey }>(
  own: T,
): own is T & { key: RecipientKey } {
  return isRecipientKey(own.key)
}

/**
 * Describes an unlocked key of the common shape as it is at `nowMs`, as the library does.
 * @returns null for every other form, which is no judgement of it
 */
export function describeCommonKey({ bytes }: UnlockedKey, nowMs: number): OwnKeyInfo | null {
  const read = readCommonPackets([...packetsOf(bytes)].map(publicPart), nowMs)
  return read && { ...read, opens: [fingerprintOf(read.info.recipientKey).toString('hex', 12)] }
}

/** Copies the public part: a key's description is kept and sent to threads without its secrets. */
function publicPart(packet: Packet): Packet {
  const { tag, body } = packet
  if (!isSecret(tag)) return packet
  const end = readPublicKey(body)?.read ?? 0
  const publicTag = tag === TAG.secretKey ? TAG.publicKey : TAG.publicSubkey
  return { ...packet, tag: publicTag, body: new Uint8Array(body.subarray(0, end)) }
}

/** An unlocked key of these public keys, the primary key first. */
export function unlockedKeyOf(keys: readonly NativePublicKey[], bytes: Uint8Array): UnlockedKey {
  const fingerprints = keys.map((key) => fingerprintOf(key).toString('hex'))
  const [fingerprint = ''] = fingerprints
  const keyIds = fingerprints.map((all) => all.slice(24))
  const sizes = ownBytes(keys.map((key) => algorithmOf(key).info))
  return { fingerprint, fingerprints, keyIds, bytes, sizes }
}

const NOT_LOCKED = 0
const CHECKSUM_BYTES = 2

/**
 * Reads the keys of the common forms in an unlocked transferable secret key, by key id (16
 * lower-case hexadecimal characters).
 */
export function readOwnSecrets(bytes: Uint8Array): Map<string, OwnSecret> {
  const found = new Map<string, OwnSecret>()
  for (const { tag, body } of packetsOf(bytes)) {
    if (!isSecret(tag)) continue
    const own = readSecret(body)
    if (own !== null) found.set(own.fingerprint.toString('hex', 12), own)
  }
  return found
}

/** Reads the body of a secret key packet; null for one that is locked, or of another form. */
function readSecret(body: Uint8Array): OwnSecret | null {
  const read = readPublicKey(body)
  const rest = read && body.subarray(read.read)
  if (!read || !rest || rest[0] !== NOT_LOCKED) return null
  const material = Buffer.from(rest.subarray(1))
  const secret = secretIn(material, read.key)
  material.fill(0)
  if (secret === null) return null
  if (!algorithmOf(read.key).publicOf(secret).equals(read.key.point)) return null
  return { key: read.key, fingerprint: fingerprintOf(read.key), secret }
}

/** The secret behind its public part, in front of a checksum. */
function secretIn(material: Buffer, key: NativePublicKey): KeyObject | null {
  if (material.length < CHECKSUM_BYTES) return null
  const secret = material.subarray(0, -CHECKSUM_BYTES)
  if (material.readUInt16BE(secret.length) !== checksum(secret)) return null
  return algorithmOf(key).readSecret(secret)
}
