/** Certificates that cost whoever judges them dearly, put together octet by octet. */
import { createHash, randomBytes } from 'node:crypto'
import { TAG } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'

const RSA = 1
/** Not among the hashes of Web Crypto: the library then computes with its own big numbers. */
const SHA224 = 11
const POSITIVE_CERTIFICATION = 0x13
const SUBKEY_BINDING = 0x18
/** Certify, sign; and encrypt (RFC 9580, 5.2.3.29). */
const PRIMARY_FLAGS = 0x03
const SUBKEY_FLAGS = 0x0c

/** A certificate with its fingerprint. */
export interface Made {
  armored: string
  fingerprint: string
}

/**
 * An RSA certificate whose numbers are noise. Its signatures have the right shape and the right
 * hash, and hold for nobody; to find that out takes one exponentiation each.
 * @param o `bits` of the modulus; `exponentBits` of the public exponent; `signatures` of itself
 */
export function giantCertificate(o: {
  bits: number
  exponentBits: number
  signatures: number
}): Made {
  const primary = keyBody(o)
  const userId = Buffer.from('Giant', 'utf8')
  const subkey = keyBody(o)
  const named = Buffer.concat([Buffer.from([0xb4]), uint32(userId.length), userId])
  const certifications = Array.from({ length: o.signatures }, () =>
    selfSignature(primary, named, { type: POSITIVE_CERTIFICATION, flags: PRIMARY_FLAGS, ...o }),
  )
  const binding = selfSignature(primary, hashedKey(subkey), {
    type: SUBKEY_BINDING,
    flags: SUBKEY_FLAGS,
    ...o,
  })
  const bytes = Buffer.concat([
    framePacket(TAG.publicKey, primary),
    framePacket(TAG.userId, userId),
    ...certifications,
    framePacket(TAG.publicSubkey, subkey),
    binding,
  ])
  const fingerprint = createHash('sha1').update(hashedKey(primary)).digest('hex')
  return { armored: armorKey(bytes), fingerprint }
}

/** Armor of a public key block, without a checksum. */
export function armorKey(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${lines.join('\n')}\n-----END PGP PUBLIC KEY BLOCK-----\n`
}

/** The bytes of an armored block. */
export function dearmored(armored: string): Buffer {
  const body = armored.split(/\r?\n\r?\n/)[1] ?? ''
  const lines = body.split(/\r?\n/).filter((line) => !line.startsWith('=') && !line.startsWith('-'))
  return Buffer.from(lines.join(''), 'base64')
}

function keyBody(o: { bits: number; exponentBits: number }): Buffer {
  const made = uint32(Math.floor(Date.now() / 1000) - 86_400)
  return Buffer.concat([
    Buffer.from([4]),
    made,
    Buffer.from([RSA]),
    mpi(o.bits),
    mpi(o.exponentBits),
  ])
}

function selfSignature(
  primary: Buffer,
  about: Buffer,
  o: { type: number; flags: number; bits: number },
): Buffer {
  const made = uint32(Math.floor(Date.now() / 1000) - 86_400)
  const keyId = createHash('sha1').update(hashedKey(primary)).digest().subarray(-8)
  const subpackets = Buffer.concat([
    Buffer.from([5, 2]),
    made,
    Buffer.from([2, 27, o.flags]),
    Buffer.from([9, 16]),
    keyId,
  ])
  const hashed = Buffer.concat([
    Buffer.from([4, o.type, RSA, SHA224]),
    uint16(subpackets.length),
    subpackets,
  ])
  const trailer = Buffer.concat([Buffer.from([4, 0xff]), uint32(hashed.length)])
  const digest = createHash('sha224')
    .update(Buffer.concat([hashedKey(primary), about, hashed, trailer]))
    .digest()
  const body = Buffer.concat([hashed, uint16(0), digest.subarray(0, 2), mpi(o.bits - 1)])
  return framePacket(TAG.signature, body)
}

/** A key as it goes into a hash (RFC 9580, 5.2.4). */
function hashedKey(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x99]), uint16(body.length), body])
}

/** A random odd number of exactly so many bits (RFC 9580, 3.2). */
function mpi(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8))
  const top = (bits - 1) % 8
  bytes[0] = ((bytes[0] ?? 0) & ((1 << top) - 1)) | (1 << top)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1
  return Buffer.concat([uint16(bits), bytes])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
