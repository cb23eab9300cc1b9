/** Certificates that cost whoever judges them dearly. */
import { randomBytes } from 'node:crypto'
import { mpi } from './openpgp-bytes.ts'
import {
  armoredCertificate,
  boundSubkey,
  certifiedBy,
  keyPacket,
  userId,
} from './openpgp-certificate.ts'
import { identify, rsaBody, type SigningKey } from './openpgp-key.ts'
import { keyFlags } from './openpgp-signature.ts'

const NAME = 'Giant'
/** Not among the hashes of Web Crypto: the library then computes with its own big numbers. */
const HASH = 'sha224'

interface Size {
  /** Of the modulus. */
  bits: number
  /** Of the public exponent. */
  exponentBits: number
  /** Self-signatures. */
  signatures: number
}

/** A certificate with its fingerprint. */
export interface Made {
  armored: string
  fingerprint: string
}

/**
 * An RSA certificate whose numbers are noise. Its signatures have the right shape and the right
 * hash, and hold for nobody; to find that out takes one exponentiation each.
 */
export function giantCertificate(size: Size): Made {
  const [primary, subkey] = [giantKey(size), giantKey(size)]
  const atMs = primary.createdMs
  const another = (): Buffer =>
    certifiedBy(primary, { primary, name: NAME }, { atMs, hash: HASH, hashed: [keyFlags(3)] })
  const armored = armoredCertificate(
    keyPacket(primary),
    userId(primary, NAME, { hash: HASH }),
    ...Array.from({ length: size.signatures - 1 }, another),
    boundSubkey(primary, subkey, { hash: HASH }),
  )
  return { armored, fingerprint: primary.fingerprint }
}

function giantKey({ bits, exponentBits }: Size): SigningKey {
  const createdMs = Date.now() - 86_400_000
  const body = rsaBody(randomNumber(bits), randomNumber(exponentBits), createdMs)
  const sign = (): Buffer => mpi(randomNumber(bits - 1))
  return { ...identify(body, createdMs), algorithm: 1, secretBody: Buffer.alloc(0), sign }
}

/** A random odd number of exactly so many bits. */
function randomNumber(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8))
  const top = (bits - 1) % 8
  bytes[0] = ((bytes[0] ?? 0) & ((1 << top) - 1)) | (1 << top)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1
  return bytes
}
