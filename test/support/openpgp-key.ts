/** Keys of version 4 from seeds: the same in every run, and no library's (RFC 9580, 5.5 and 11). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  sign as signWith,
  type KeyObject,
} from 'node:crypto'
import { hex, mpi, concat, seeded, u16, u32 } from './openpgp-bytes.ts'
import type { Signer } from './openpgp-signature.ts'

const ED25519_OID = '092b06010401da470f01'
const CURVE25519_OID = '0a2b060104019755010501'
/** SHA-256 and AES-128 derive and wrap (RFC 9580, 11.5). */
const KDF = '03010807'

/** A key packet's body without its tag, with what identifies it. */
export interface PacketKey {
  /** Public part, the body of a key packet. */
  body: Buffer
  fingerprint: string
  keyId: string
  createdMs: number
}

export interface SigningKey extends PacketKey, Signer {
  /** Body of a secret key packet that is not locked. */
  secretBody: Buffer
}

export interface EncryptionKey extends PacketKey {
  secretBody: Buffer
  /** Of which curve it is; Curve25519 where none is named. */
  namedCurve?: string
  /** What stands before the shared secret's owner in the key derivation (RFC 9580, 11.5). */
  kdfPrefix: Buffer
  publicKey: KeyObject
}

/** Ed25519 in the legacy encoding, algorithm 22. */
export function ed25519(label: string, createdMs: number): SigningKey {
  const seed = seeded(`ed25519 ${label}`, 32)
  const secret = fromRaw('302e020100300506032b657004220420', seed)
  const point = concat(0x40, rawPublic(secret))
  const packetKey = identify(concat(4, seconds(createdMs), 22, ED25519_OID, mpi(point)), createdMs)
  return {
    ...packetKey,
    algorithm: 22,
    secretBody: unlocked(packetKey.body, mpi(seed)),
    sign: (message, hash) => {
      const numbers = signWith(null, createHash(hash).update(message).digest(), secret)
      return concat(mpi(numbers.subarray(0, 32)), mpi(numbers.subarray(32)))
    },
  }
}

/** Curve25519 in the legacy encoding, algorithm 18. */
export function curve25519(label: string, createdMs: number): EncryptionKey {
  const scalar = seeded(`curve25519 ${label}`, 32)
  scalar[0] = (scalar[0] ?? 0) & 0xf8
  scalar[31] = ((scalar[31] ?? 0) & 0x7f) | 0x40
  return curve25519Of(scalar, createdMs)
}

/** The same with a scalar of 32 bytes, which need not have the bits that X25519 sets. */
export function curve25519Of(scalar: Buffer, createdMs: number): EncryptionKey {
  const secret = fromRaw('302e020100300506032b656e04220420', scalar)
  const point = concat(0x40, rawPublic(secret))
  const body = concat(4, seconds(createdMs), 18, CURVE25519_OID, mpi(point), KDF)
  return {
    ...identify(body, createdMs),
    secretBody: unlocked(body, mpi(scalar.toReversed())),
    kdfPrefix: concat(CURVE25519_OID, 18, KDF, Buffer.from('Anonymous Sender    ')),
    publicKey: createPublicKey(secret),
  }
}

/** An RSA key for encryption and signing, algorithm 1, from a PEM secret key. */
export function rsa(pem: string, createdMs: number): SigningKey {
  const secret = createPrivateKey(pem)
  const { n = '', e = '', d = '', p = '', q = '', qi = '' } = secret.export({ format: 'jwk' })
  const [modulus, exponent] = [n, e].map(number)
  const body = rsaBody(modulus ?? Buffer.alloc(0), exponent ?? Buffer.alloc(0), createdMs)
  /** OpenPGP wants the inverse of p modulo q; JWK has that of q modulo p: the primes change places. */
  const secrets = concat(...[d, q, p, qi].map((part) => mpi(number(part))))
  return {
    ...identify(body, createdMs),
    algorithm: 1,
    secretBody: unlocked(body, secrets),
    sign: (message, hash) => mpi(signWith(hash, message, secret)),
  }
}

/** A signature by DSA or ECDSA: r and s, as MPIs. */
function twoNumbers(hash: string, message: Uint8Array, key: KeyObject): Buffer {
  const numbers = signWith(hash, message, { key, dsaEncoding: 'ieee-p1363' })
  const half = numbers.length / 2
  return concat(mpi(numbers.subarray(0, half)), mpi(numbers.subarray(half)))
}

/** A DSA key, algorithm 17, from a traditional PEM secret key; its signatures differ in each run. */
export function dsa(pem: string, createdMs: number): SigningKey {
  const der = Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64')
  const [, p = der, q = der, g = der, y = der, x = der] = integers(der)
  const body = concat(4, seconds(createdMs), 17, mpi(p), mpi(q), mpi(g), mpi(y))
  return {
    ...identify(body, createdMs),
    algorithm: 17,
    secretBody: unlocked(body, mpi(x)),
    sign: (message, hash) => twoNumbers(hash, message, createPrivateKey(pem)),
  }
}

/** A fresh ECDSA key, algorithm 19. @param oid the curve's, with its length octet */
export function ecdsa(namedCurve: string, oid: string, createdMs: number): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
  const body = concat(4, seconds(createdMs), 19, oid, mpi(pointOf(publicKey)))
  return {
    ...identify(body, createdMs),
    algorithm: 19,
    secretBody: unlocked(body, mpi(scalarOf(privateKey))),
    sign: (message, hash) => twoNumbers(hash, message, privateKey),
  }
}

/** SHA-512 and AES-256 derive and wrap. */
const LONG_KDF = '03010a09'

/** A fresh ECDH key, algorithm 18, whose scalar begins with `begins`, where that is given. */
export function ecdh(
  namedCurve: string,
  oid: string,
  createdMs: number,
  begins?: number,
): EncryptionKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
  const scalar = scalarOf(privateKey)
  if (begins !== undefined && scalar[0] !== begins) return ecdh(namedCurve, oid, createdMs, begins)
  const body = concat(4, seconds(createdMs), 18, oid, mpi(pointOf(publicKey)), LONG_KDF)
  return {
    ...identify(body, createdMs),
    secretBody: unlocked(body, mpi(scalar)),
    kdfPrefix: concat(oid, 18, LONG_KDF, Buffer.from('Anonymous Sender    ')),
    publicKey,
    namedCurve,
  }
}

/** The public packet of such a key. */
export const ecdhBody = (namedCurve: string, oid: string, createdMs: number): Buffer =>
  ecdh(namedCurve, oid, createdMs).body

/** The secret number, which is at the start of the traditional form. */
function scalarOf(privateKey: KeyObject): Buffer {
  const der = privateKey.export({ format: 'der', type: 'sec1' })
  const at = der.indexOf(Buffer.from('02010104', 'hex')) + 4
  return der.subarray(at + 1, at + 1 + (der[at] ?? 0))
}

/** The point stands at the end of the DER form, uncompressed. */
function pointOf(publicKey: KeyObject): Buffer {
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const { namedCurve = '' } = publicKey.asymmetricKeyDetails ?? {}
  const size = Math.ceil(Number(/[0-9]{3}/.exec(namedCurve)?.[0] ?? 0) / 8)
  return der.subarray(-(2 * size + 1))
}

/** The public packet of an RSA key of any size, to which nobody may have the secret. */
export function rsaBody(modulus: Uint8Array, exponent: Uint8Array, createdMs: number): Buffer {
  return concat(4, seconds(createdMs), 1, mpi(modulus), mpi(exponent))
}

/** What identifies a key packet of version 4 (RFC 9580, 5.5.4.2). */
export function identify(body: Buffer, createdMs: number): PacketKey {
  const digest = createHash('sha1')
    .update(concat(0x99, u16(body.length), body))
    .digest()
  const fingerprint = hex(digest)
  return { body, fingerprint, keyId: fingerprint.slice(-16), createdMs }
}

/** The shared secret between an ephemeral secret and a recipient. */
export function shared(label: string, recipient: EncryptionKey): { point: Buffer; secret: Buffer } {
  const { namedCurve } = recipient
  if (namedCurve !== undefined) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
    const secret = diffieHellman({ privateKey, publicKey: recipient.publicKey })
    return { point: pointOf(publicKey), secret }
  }
  const ephemeral = fromRaw('302e020100300506032b656e04220420', seeded(`ephemeral ${label}`, 32))
  return {
    point: concat(0x40, rawPublic(ephemeral)),
    secret: diffieHellman({ privateKey: ephemeral, publicKey: recipient.publicKey }),
  }
}

export const seconds = (atMs: number): Buffer => u32(Math.floor(atMs / 1000))

export function unlocked(body: Buffer, secrets: Buffer): Buffer {
  const sum = secrets.reduce((total, octet) => (total + octet) & 0xffff, 0)
  return concat(body, 0, secrets, u16(sum))
}

export function fromRaw(prefix: string, raw: Buffer): KeyObject {
  return createPrivateKey({ key: concat(prefix, raw), format: 'der', type: 'pkcs8' })
}

export function rawPublic(secret: KeyObject): Buffer {
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  return number(x)
}

const number = (base64url: string): Buffer => Buffer.from(base64url, 'base64url')

/** The integers of a flat sequence, such as a traditional DSA secret key. */
function integers(der: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 4; at < der.length;) {
    const long = (der[at + 1] ?? 0) & 0x80 ? (der[at + 1] ?? 0) & 0x7f : 0
    const length = long === 0 ? (der[at + 1] ?? 0) : der.readUIntBE(at + 2, long)
    const start = at + 2 + long
    found.push(der.subarray(start, start + length))
    at = start + length
  }
  return found
}
