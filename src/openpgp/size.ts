/** How large a sealed message becomes, known before any of it is computed. */
import type { AlgorithmInfo } from './crypto/algorithm.ts'
import { BOUNDS } from './bounds.ts'
import type { CipherSizes, OwnSizes } from './engine.ts'
import { armoredLength } from './format/armor-writer.ts'
import type { Cipher } from './format/ciphers.ts'
import { framedLength } from './format/packet-writer.ts'

/** Bytes of the ephemeral point of ECDH, with its two length bytes (RFC 9580, 11.5). */
const POINT_BYTES: Record<string, number> = {
  curve25519Legacy: 35,
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
/**
 * A session key as X25519, X448 and ML-KEM-768+X25519 wrap it, and the points of these with the
 * ciphertext of ML-KEM (RFC 9580, 5.1.6 and 5.1.7; draft-ietf-openpgp-pqc, 4.3.1).
 */
const WRAPPED_PLAIN: CipherSizes = { aes256: 40, aes128: 24 }
const PLAIN_POINT_BYTES: Record<string, number> = {
  x25519: 32,
  x448: 56,
  mlKem768X25519: 32 + 1088,
}
/** Bytes before the numbers of a signature of ours: version to hash, with all subpackets. */
const SIGNATURE_FIXED = 119
/** Bytes of a signature's numbers, where the algorithm fixes their length (RFC 9580, 5.2.3). */
const SIGNATURE_NUMBERS: Record<string, number> = { eddsaLegacy: 68, ed25519: 64, ed448: 114 }

/** Bytes of a recipient packet, framed, by the cipher of the session key; the greatest possible. */
export function recipientBytes(info: AlgorithmInfo): CipherSizes {
  const framed = (cipher: Cipher): number => framedLength(PKESK_FIXED + sealedBytes(info, cipher))
  return { aes256: framed('aes256'), aes128: framed('aes128') }
}

/**
 * The bytes of a key of ours in every message: the greatest recipient packet of its subkeys, or of
 * the key itself where it has none, and the greatest signature, which names nobody and is not framed.
 * @param infos of the primary key and its subkeys
 */
export function ownBytes(infos: AlgorithmInfo[]): OwnSizes {
  const [primary, ...subkeys] = infos
  const sealing = infos.filter(({ algorithm }) => !SIGNING.has(algorithm))
  const signing = infos.filter(({ algorithm }) => !ENCRYPTING.has(algorithm))
  const recipients = (subkeys.length > 0 ? sealing.filter((one) => one !== primary) : sealing).map(
    recipientBytes,
  )
  return {
    recipient: {
      aes256: Math.max(0, ...recipients.map(({ aes256 }) => aes256)),
      aes128: Math.max(0, ...recipients.map(({ aes128 }) => aes128)),
    },
    signature: Math.max(0, ...signing.map((info) => SIGNATURE_FIXED + numberBytes(info))),
  }
}

/** Algorithms of one use alone; RSA has both. */
const SIGNING = new Set(['ecdsa', 'dsa', 'eddsaLegacy', 'ed25519', 'ed448'])
const ENCRYPTING = new Set(['ecdh', 'x25519', 'x448', 'elgamal', 'mlKem768X25519'])

function sealedBytes({ algorithm, bits, curve }: AlgorithmInfo, cipher: Cipher): number {
  if (bits !== undefined) return 2 + Math.ceil(bits / 8)
  const plainPoint = PLAIN_POINT_BYTES[algorithm]
  if (plainPoint !== undefined) return plainPoint + 2 + WRAPPED_PLAIN[cipher]
  return (POINT_BYTES[curve ?? ''] ?? 135) + 1 + WRAPPED[cipher]
}

function numberBytes({ algorithm, bits, curve }: AlgorithmInfo): number {
  if (bits !== undefined) return 2 + Math.ceil(bits / 8)
  // Two numbers as long as the two of a point, with a length each, in the place of its one byte.
  return SIGNATURE_NUMBERS[algorithm] ?? (POINT_BYTES[curve ?? ''] ?? 135) + 1
}

/** Of a key as we make them: Ed25519 and Curve25519. */
export const AS_MADE: OwnSizes = ownBytes([
  { algorithm: 'eddsaLegacy' },
  { algorithm: 'ecdh', curve: 'curve25519Legacy' },
])

/** A recipient's name in a signature: length, type, version, fingerprint (RFC 9580, 5.2.3.36). */
const NAME_BYTES = 23
/**
 * Above this no recipient is named, so that every program verifies the signature: rnp reads 64
 * subpackets, four of which have other uses, and GnuPG 2.2 reads 10,000 bytes of them.
 */
export const MOST_NAMED = 60
/** Format, length of an empty name, and date before a text (RFC 9580, 5.9). */
const LITERAL_FIXED = 6
/**
 * Bytes in the container beside the literal packet: version, prefix, one-pass
 * signature, hash. Numbers that begin with zeros make a signature a byte or two shorter.
 */
const AROUND_LITERAL = 1 + 18 + 15 + 22

/** Why nothing can be sealed, or how it fits: `isNamed` when the signature names the recipients. */
export type Fit =
  { fits: true; cipher: Cipher; isNamed: boolean } | { fits: false; leastChars: number }

/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit; the signature
 * names all recipients, or nobody where only that lets it fit. A message that fits here never turns
 * out too large.
 * @param recipients bytes of all recipient packets but our own, by cipher
 * @param o `textBytes` bytes of the text in UTF-8; `maxChars` the service's maximum
 *   (`armoredMax`); `own` sizes of the key that seals; `named` how many certificates the message
 *   is sealed to, the bot's own among them
 */
export function fit(
  recipients: CipherSizes,
  o: { textBytes: number; maxChars: number; own: OwnSizes; named: number },
): Fit {
  const { recipient, signature } = o.own
  const literal = framedLength(LITERAL_FIXED + o.textBytes)
  const length = (cipher: Cipher, named: number): number => {
    const inside = AROUND_LITERAL + literal + framedLength(signature + NAME_BYTES * named)
    return armoredLength(recipients[cipher] + recipient[cipher] + framedLength(inside))
  }
  for (const named of o.named > MOST_NAMED ? [0] : [o.named, 0]) {
    for (const cipher of ['aes256', 'aes128'] as const) {
      const isNamed = named > 0
      if (length(cipher, named) <= o.maxChars) return { fits: true, cipher, isNamed }
    }
  }
  return { fits: false, leastChars: length('aes128', 0) }
}

/**
 * How many recipients of one kind fit beside a text, the bot, with a key as we make them, not counted.
 * @param each bytes of one recipient packet, by cipher
 * @param armoredMax the service's maximum; we seal no more than we would open
 */
export function capacity(each: CipherSizes, textBytes: number, armoredMax: number): number {
  const maxChars = Math.min(armoredMax, BOUNDS.messageChars)
  let low = 0
  let high = Math.ceil(maxChars / Math.max(1, each.aes128))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const all = { aes256: each.aes256 * middle, aes128: each.aes128 * middle }
    if (fit(all, { textBytes, maxChars, own: AS_MADE, named: 0 }).fits) low = middle
    else high = middle - 1
  }
  return low
}

/** No message that the service accepts holds more recipients, even with the smallest packets. */
export const MOST_RECIPIENTS = capacity(
  recipientBytes({ algorithm: 'x25519' }),
  1,
  BOUNDS.messageChars,
)
