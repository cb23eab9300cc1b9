/**
 * Secret keys of the bot's own, as far as they are of the common forms: unlocked, as they are locked
 * when made, and read (RFC 9580, 3.7 and 5.5.3).
 */
import { createDecipheriv, createHash, hash, timingSafeEqual, type KeyObject } from 'node:crypto'
import { checksum } from '../bytes.ts'
import type { NativePublicKey, RecipientKey } from '../crypto/algorithm.ts'
import { fingerprintOf, readPublicKey, algorithmOf, isRecipientKey } from '../crypto/public-key.ts'
import type { UnlockedKey } from '../engine.ts'
import { TAG, isSecret, packetsOf, type Packet, listPackets } from '../format/packets.ts'
import { ownBytes } from '../size.ts'
import { readCommonPackets } from './common-certificate.ts'
import type { OwnKeyInfo } from '../certificate-info.ts'
import { plainArmor } from '../format/armor.ts'
import { bytesOf, framePacket } from '../format/packet-writer.ts'

/** One secret key, primary or subkey, as a key of node:crypto. */
export interface OwnSecret<K extends NativePublicKey = NativePublicKey> {
  key: K
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  secret: KeyObject
}

/** Whether the secret decrypts messages, rather than signs. */
export const isRecipientSecret = <T extends { key: NativePublicKey }>(
  own: T,
): own is T & { key: RecipientKey } => isRecipientKey(own.key)

/**
 * Describes an unlocked key of the common shape as it is at `nowMs`, as the library does.
 * @returns null for every other form, which is no judgement of it
 */
export function describeCommonKey({ bytes }: UnlockedKey, nowMs: number): OwnKeyInfo | null {
  const info = readCommonPackets([...packetsOf(bytes)].map(publicPart), nowMs)
  return info && { info, opens: [fingerprintOf(info.recipientKey).toString('hex', 12)] }
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

/** Encrypted with a hash: AES-256 in CFB, under iterated and salted SHA-256 (RFC 9580, 3.7.2.1). */
const LOCK = Buffer.of(254, 9, 3, 8)
const SALT = 8
const IV = 16
const SHA1 = 20
const TAGS = new Set<number>([TAG.secretKey, TAG.secretSubkey, TAG.userId, TAG.signature])

/** A secret key packet that is locked that way. */
interface Locked {
  /** The public key, before the locked part. */
  public: Uint8Array
  key: NativePublicKey
  salt: Uint8Array
  /** How many bytes are hashed, as one coded byte (RFC 9580, 3.7.1.3). */
  count: number
  iv: Uint8Array
  /** The secret number and its SHA-1. */
  sealed: Uint8Array
}

/** Hashed at once where the key is used, as under 256 random bits; more is work for a thread. */
export const FEW_BYTES = 65_536

/**
 * Unlocks an armored version 4 secret key.
 * @param maxBytes how much may be hashed for one packet
 * @returns null when any part is not of the common forms, which is no judgement of it
 * @throws Error `wrong-passphrase`
 */
export function unlockNatively(
  armored: string,
  passphrase: string,
  maxBytes = Infinity,
): UnlockedKey | null {
  const packets = readPackets(armored)
  const keys = packets?.filter(({ tag }) => isSecret(tag)).map(({ body }) => readLocked(body))
  if (!packets || packets[0]?.tag !== TAG.secretKey || !keys?.every((key) => key !== null)) {
    return null
  }
  if (keys.some(({ count }) => hashedBytes(count) > maxBytes)) return null
  const bodies = keys.map((key) => unlockOne(key, passphrase))
  const bytes = Buffer.concat(
    packets.map(({ tag, body }) => framePacket(tag, (isSecret(tag) && bodies.shift()) || body)),
  )
  if (readOwnSecrets(bytes).size !== keys.length) return null
  const own = keys.map(({ key }) => key)
  return unlockedKeyOf(own, bytes)
}

function readPackets(armored: string): Packet[] | null {
  const bytes = plainArmor(armored, 'PRIVATE KEY BLOCK')
  const packets = bytes && listPackets(bytes)
  return packets?.every(({ tag }) => TAGS.has(tag)) ? packets : null
}

function readLocked(body: Uint8Array): Locked | null {
  const read = readPublicKey(body)
  if (read === null) return null
  const rest = body.subarray(read.read)
  const at = LOCK.length + SALT + 1
  if (!LOCK.equals(rest.subarray(0, LOCK.length)) || rest.length <= at + IV + SHA1) return null
  return {
    public: body.subarray(0, read.read),
    key: read.key,
    salt: rest.subarray(LOCK.length, LOCK.length + SALT),
    count: rest[at - 1] ?? 0,
    iv: rest.subarray(at, at + IV),
    sealed: rest.subarray(at + IV),
  }
}

/** The packet's body with its secret in the clear, which ends with a sum of 16 bits. */
function unlockOne(locked: Locked, passphrase: string): Buffer {
  const key = derive(locked, passphrase)
  const decipher = createDecipheriv('aes-256-cfb', key, locked.iv)
  const opened = Buffer.concat([decipher.update(locked.sealed), decipher.final()])
  key.fill(0)
  const secret = opened.subarray(0, -SHA1)
  try {
    if (!timingSafeEqual(hash('sha1', secret, 'buffer'), opened.subarray(-SHA1))) {
      throw new Error('wrong-passphrase')
    }
    return Buffer.concat([locked.public, Buffer.of(0), secret, bytesOf(checksum(secret), 2)])
  } finally {
    opened.fill(0)
  }
}

/** A count as it is coded in one byte (RFC 9580, 3.7.1.3). */
const hashedBytes = (coded: number): number => (16 + (coded & 15)) << ((coded >> 4) + 6)

/** Salt and passphrase over and over, hashed (RFC 9580, 3.7.1.3): some 60 MB in pieces. */
function derive({ salt, count }: Pick<Locked, 'salt' | 'count'>, passphrase: string): Buffer {
  const once = Buffer.concat([salt, Buffer.from(passphrase)])
  const total = Math.max(hashedBytes(count), once.length)
  const piece = Buffer.alloc(once.length * Math.ceil(65_536 / once.length), once)
  const hashed = createHash('sha256')
  let left = total
  for (; left > piece.length; left -= piece.length) hashed.update(piece)
  const key = hashed.update(piece.subarray(0, left)).digest()
  once.fill(0)
  piece.fill(0)
  return key
}
