/**
 * ML-KEM-768+X25519 in subkeys of version 4 (draft-ietf-openpgp-pqc), by @noble/post-quantum: a
 * second implementation, which shares no line with `src/openpgp`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { armoredCertificate, boundSubkey, keyPacket, userId } from './openpgp-certificate.ts'
import { ed25519, fromRaw, identify, rawPublic, seconds, shared, unlocked } from './openpgp-key.ts'
import type { EncryptionKey } from './openpgp-key.ts'
import { packet } from './openpgp-framing.ts'
import { concat, seeded } from './openpgp-bytes.ts'
import { personOf, testPerson, type TestPerson } from './openpgp-people.ts'
import type { SessionKey } from './openpgp-sealed.ts'

const DOMAIN = 'OpenPGPCompositeKDFv1'
const INITIAL = Buffer.alloc(8, 0xa6)
export const SEALED_BYTES = 32 + 1088

/** Such a key, with its secret: a scalar and two seeds. */
export interface CompositeKey extends EncryptionKey {
  point: Buffer
  material: Buffer
}

export function mlKem(label: string, createdMs: number): CompositeKey {
  const scalar = seeded(`ml-kem x25519 ${label}`, 32)
  const seed = seeded(`ml-kem ${label}`, 64)
  const secret = curveSecret(scalar)
  const point = concat(rawPublic(secret), ml_kem768.keygen(seed).publicKey)
  const material = concat(scalar, seed)
  const body = compositeBody(point, createdMs)
  return {
    ...identify(body, createdMs),
    secretBody: unlocked(body, material),
    kdfPrefix: point,
    publicKey: createPublicKey(secret),
    point,
    material,
  }
}

const curveSecret = (scalar: Buffer): KeyObject =>
  fromRaw('302e020100300506032b656e04220420', scalar)

/** The body of a public key packet with such a point. */
export const compositeBody = (point: Uint8Array, createdMs: number): Buffer =>
  concat(4, seconds(createdMs), 35, point)

/** The key combiner. */
function keyFor(shares: { kem: Uint8Array; curve: Uint8Array }, sealed: Buffer, point: Buffer) {
  const bound = [sealed.subarray(0, 32), point.subarray(0, 32), 35, Buffer.from(DOMAIN), 21]
  return createHash('sha3-256')
    .update(concat(shares.kem, shares.curve, ...bound))
    .digest()
}

/** A version 3 recipient packet. */
export function mlKemPkesk(to: CompositeKey, key: SessionKey, label = 'pkesk'): Buffer {
  const { point, secret: curve } = shared(label, to)
  const made = ml_kem768.encapsulate(to.point.subarray(32), seeded(`message ${label}`, 32))
  const sealed = concat(point.subarray(1), made.cipherText)
  const cipher = createCipheriv(
    'id-aes256-wrap',
    keyFor({ kem: made.sharedSecret, curve }, sealed, to.point),
    INITIAL,
  )
  const wrapped = concat(cipher.update(key.data), cipher.final())
  const rest = concat(wrapped.length + 1, key.cipher, wrapped)
  return packet(1, concat(3, to.keyId, 35, sealed, rest))
}

/** Opens the body of a version 3 recipient packet. @throws Error when it does not open */
export function openMlKem(body: Uint8Array, own: CompositeKey): { cipher: number; data: Buffer } {
  const fields = Buffer.from(body.subarray(10))
  const sealed = fields.subarray(0, SEALED_BYTES)
  const [scalar, seed] = [own.material.subarray(0, 32), own.material.subarray(32)]
  const publicKey = createPublicKey({
    key: concat('302a300506032b656e032100', sealed.subarray(0, 32)),
    format: 'der',
    type: 'spki',
  })
  const curve = diffieHellman({ privateKey: curveSecret(scalar), publicKey })
  const kem = ml_kem768.decapsulate(sealed.subarray(32), ml_kem768.keygen(seed).secretKey)
  const key = keyFor({ kem, curve }, sealed, own.point)
  const decipher = createDecipheriv('id-aes256-wrap', key, INITIAL)
  const wrapped = fields.subarray(SEALED_BYTES + 2)
  const data = concat(decipher.update(wrapped), decipher.final())
  return { cipher: fields[SEALED_BYTES + 1] ?? 0, data }
}

/** Somebody who has such a subkey alone. */
export function compositePerson(
  name: string,
  createdMs: number,
): TestPerson & { kem: CompositeKey } {
  const kem = mlKem(name, createdMs)
  return { ...personOf(name, ed25519(name, createdMs), kem), kem }
}

/** Somebody who has such a subkey beside a Curve25519 one. */
export function bothPerson(name: string, createdMs: number): TestPerson & { kem: CompositeKey } {
  const kem = mlKem(name, createdMs)
  const person = testPerson(name, createdMs)
  const { primary, subkey } = person
  const bindings = [boundSubkey(primary, subkey), boundSubkey(primary, kem)]
  const id = userId(primary, name)
  const own = bindings.map((one) => one.subarray(packet(14, subkey.body).length))
  const second = bindings[1]?.subarray(packet(14, kem.body).length) ?? Buffer.alloc(0)
  const secret = concat(
    packet(5, primary.secretBody),
    id,
    packet(7, subkey.secretBody),
    own[0] ?? '',
    packet(7, kem.secretBody),
    second,
  )
  return {
    ...person,
    certificate: armoredCertificate(keyPacket(primary), id, ...bindings),
    secret,
    unlocked: {
      ...person.unlocked,
      keyIds: [...person.unlocked.keyIds, kem.keyId],
      fingerprints: [...person.unlocked.fingerprints, kem.fingerprint],
      bytes: new Uint8Array(secret),
    },
    kem,
  }
}

/** A file of the draft's appendix. */
export const draftVector = (name: string): string =>
  readFileSync(new URL(`../vectors/pqc/v4-eddsa-sample-${name}.asc`, import.meta.url), 'utf8')
