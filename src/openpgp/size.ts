/** How large a sealed message becomes, known before any of it is computed. */
import type { AlgorithmInfo } from './crypto/algorithm.ts'
import {
  leastWrappedBytes,
  recipientAlgorithmLike,
  signatureAlgorithmLike,
} from './crypto/algorithms.ts'
import { CIPHER_ID, type Cipher } from './crypto/seipd.ts'
import { ECDH } from './crypto/ecdh.ts'
import { EDDSA_LEGACY } from './crypto/ed25519.ts'
import type { CipherSizes, OwnSizes } from './engine.ts'
import { framedLength } from './format/packet-writer.ts'

/** Bytes of the ephemeral point of ECDH, with its two length bytes (RFC 9580, 11.5). */
const POINT_BYTES: Record<string, number> = {
  nistP256: 67,
  nistP384: 99,
  nistP521: 135,
  brainpoolP256r1: 67,
  brainpoolP384r1: 99,
  brainpoolP512r1: 131,
}
/** Version, key id, algorithm (RFC 9580, 5.1.1). */
const PKESK_FIXED = 10
/** A session key with algorithm and checksum, padded and wrapped (RFC 9580, 11.5). */
const WRAPPED: CipherSizes = { aes256: 48, aes128: 32 }
/** A session key as X448 wraps it (RFC 9580, 5.1.6). */
const WRAPPED_PLAIN: CipherSizes = { aes256: 40, aes128: 24 }
/** What stands before the numbers of a signature of ours: version to hash, with all subpackets. */
const SIGNATURE_FIXED = 119
/** Numbers of signatures that have no curve to tell their length (RFC 9580, 5.2.3). */
const SIGNATURE_NUMBERS: Record<string, number> = { ed448: 114 }

/** Bytes of a recipient packet, framed, by the cipher of the session key; the greatest possible. */
export function recipientBytes(info: AlgorithmInfo): CipherSizes {
  return framedBoth((cipher) => sealedBytes(info, cipher))
}

/** The same of the smallest recipient packet that there is. */
export function leastRecipientBytes(): CipherSizes {
  return framedBoth((cipher) => leastWrappedBytes(CIPHER_ID[cipher]))
}

function framedBoth(wrapped: (cipher: Cipher) => number): CipherSizes {
  const framed = (cipher: Cipher): number => framedLength(PKESK_FIXED + wrapped(cipher))
  return { aes256: framed('aes256'), aes128: framed('aes128') }
}

/** Bytes of a signature of ours that names nobody, not framed; the greatest possible. */
export function signatureBytes(info: AlgorithmInfo): number {
  return SIGNATURE_FIXED + numberBytes(info)
}

/**
 * What a key of ours takes in every message: the greatest recipient packet of its subkeys, or of
 * the key itself where it has none, and the greatest signature.
 * @param infos of the primary key and its subkeys
 */
export function ownBytes(infos: AlgorithmInfo[]): OwnSizes {
  const [primary, ...subkeys] = infos
  const sealing = infos.filter((info) => !signsOnly(info))
  const recipients = (subkeys.length > 0 ? sealing.filter((one) => one !== primary) : sealing).map(
    recipientBytes,
  )
  return {
    recipient: {
      aes256: Math.max(0, ...recipients.map(({ aes256 }) => aes256)),
      aes128: Math.max(0, ...recipients.map(({ aes128 }) => aes128)),
    },
    signature: Math.max(0, ...infos.filter((info) => !sealsOnly(info)).map(signatureBytes)),
  }
}

/** Algorithms of one use alone; RSA has both. */
const SIGNING = new Set(['ecdsa', 'dsa', 'eddsaLegacy', 'ed25519', 'ed448'])
const ENCRYPTING = new Set(['ecdh', 'x25519', 'x448', 'elgamal'])

const signsOnly = ({ algorithm }: AlgorithmInfo): boolean => SIGNING.has(algorithm)

const sealsOnly = ({ algorithm }: AlgorithmInfo): boolean => ENCRYPTING.has(algorithm)

function sealedBytes(info: AlgorithmInfo, cipher: Cipher): number {
  const native = recipientAlgorithmLike(info)
  if (native !== null) return native.wrappedBytes(CIPHER_ID[cipher])
  if (info.bits !== undefined) return 2 + Math.ceil(info.bits / 8)
  if (info.algorithm === 'x448') return 56 + 2 + WRAPPED_PLAIN[cipher]
  return (POINT_BYTES[info.curve ?? ''] ?? 135) + 1 + WRAPPED[cipher]
}

function numberBytes(info: AlgorithmInfo): number {
  const { algorithm, bits, curve } = info
  const native = signatureAlgorithmLike(info)
  if (native !== null) return native.signatureBytes
  if (bits !== undefined) return 2 + Math.ceil(bits / 8)
  // Two numbers as long as the two of a point, with a length each, in the place of its one byte.
  return SIGNATURE_NUMBERS[algorithm] ?? (POINT_BYTES[curve ?? ''] ?? 135) + 1
}

/** Of a key as we make them: Ed25519 and Curve25519. */
export const AS_MADE: OwnSizes = ownBytes([EDDSA_LEGACY.info, ECDH.info])
