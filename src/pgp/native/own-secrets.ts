/** The bot's secret keys as node:crypto takes them, read from their packets (RFC 9580, 5.5.3). */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { TAG, packetsOf } from '../format/packets.ts'
import {
  ALGORITHM,
  fingerprintOf,
  isSealingKey,
  readCurveKey,
  type CurveKey,
  type SealingKey,
} from '../crypto/public-key.ts'
import { ed25519Secret } from '../crypto/ed25519.ts'
import { readMpi } from '../crypto/mpi.ts'
import { x25519Secret } from '../crypto/curve25519.ts'

/** One secret key, primary or subkey. */
export interface OwnSecret<K extends CurveKey = CurveKey> {
  key: K
  /** Of that key, 20 bytes. */
  fingerprint: Buffer
  secret: KeyObject
}

/** Whether it opens what is sealed to it. */
export function isSealingSecret(own: OwnSecret): own is OwnSecret<SealingKey> {
  return isSealingKey(own.key)
}

const NOT_LOCKED = 0
const CHECKSUM = 2

/**
 * Takes an unlocked transferable secret key. Gives those of its keys that are of the common forms,
 * by key id (16 lower-case hexadecimal characters).
 */
export function readOwnSecrets(bytes: Uint8Array): Map<string, OwnSecret> {
  const found = new Map<string, OwnSecret>()
  for (const { tag, body } of packetsOf(bytes)) {
    if (tag !== TAG.secretKey && tag !== TAG.secretSubkey) continue
    const own = readOne(body)
    if (own !== null) found.set(own.fingerprint.toString('hex', 12), own)
  }
  return found
}

function readOne(body: Uint8Array): OwnSecret | null {
  const read = readCurveKey(body)
  const rest = read && body.subarray(read.read)
  if (!read || !rest || rest[0] !== NOT_LOCKED) return null
  const material = Buffer.from(rest.subarray(1))
  const number = secretNumber(material, read.key)
  material.fill(0)
  if (number === null) return null
  const secret = isSealingKey(read.key) ? x25519Secret(number) : ed25519Secret(number)
  number.fill(0)
  const point = createPublicKey(secret).export({ format: 'raw-public' })
  if (!point.equals(read.key.point)) return null
  return { key: read.key, fingerprint: fingerprintOf(read.key), secret }
}

/** The 32 bytes of the secret, in the order that the curve's own specification has. */
function secretNumber(material: Buffer, { algorithm }: CurveKey): Buffer | null {
  const sum = material.subarray(0, -CHECKSUM).reduce((all, byte) => (all + byte) & 0xffff, 0)
  if (material.length < CHECKSUM || material.readUInt16BE(material.length - CHECKSUM) !== sum) {
    return null
  }
  const bytes = material.subarray(0, -CHECKSUM)
  const isPlain = algorithm === ALGORITHM.x25519 || algorithm === ALGORITHM.ed25519
  if (isPlain) return bytes.length === 32 ? Buffer.from(bytes) : null
  const number = readMpi(bytes, 32)
  if (number?.read !== bytes.length) return null
  if (algorithm === ALGORITHM.eddsaLegacy) return number.number
  const scalar = Buffer.from(number.number.toReversed())
  number.number.fill(0)
  return scalar
}
