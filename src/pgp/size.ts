/** How large a sealed message becomes, known before any of it is computed. */
import { ECDH } from './crypto/ecdh.ts'
import { EDDSA_LEGACY } from './crypto/ed25519.ts'
import { armoredLength } from './format/armor.ts'
import type { Cipher, CipherSizes, OwnSizes } from './engine.ts'
import { framedLength } from './format/packets.ts'
import { BOUNDS } from './bounds.ts'
import { leastRecipientBytes, ownBytes } from './packet-sizes.ts'

/** Of a key as we make them: Ed25519 and Curve25519. */
export const AS_MADE: OwnSizes = ownBytes([EDDSA_LEGACY.info, ECDH.info])
/** Format, length of an empty name, and date before a text (RFC 9580, 5.9). */
const LITERAL_FIXED = 6
/**
 * Bytes that stand in the container beside the literal packet: version, prefix, one-pass
 * signature, hash. Numbers that begin with zeros make a signature a byte or two shorter.
 */
const AROUND_LITERAL = 1 + 18 + 15 + 22

/** Why nothing can be sealed, or the cipher with which it fits. */
export type Fit = { fits: true; cipher: Cipher } | { fits: false; leastChars: number }

/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit. What fits here
 * never turns out too large.
 * @param recipientBytes bytes of all recipient packets but our own, by cipher
 * @param o `textBytes` bytes of the text in UTF-8; `maxChars` what the service takes
 *   (`armoredMax`); `own` what the key takes that it is sealed with
 */
export function fit(
  recipientBytes: CipherSizes,
  { textBytes, maxChars, own }: { textBytes: number; maxChars: number; own: OwnSizes },
): Fit {
  const { recipient, signature } = own
  const literal = framedLength(LITERAL_FIXED + textBytes)
  const container = framedLength(AROUND_LITERAL + signature + literal)
  const length = (cipher: Cipher): number =>
    greatestLength(recipientBytes[cipher] + recipient[cipher] + container)
  if (length('aes256') <= maxChars) return { fits: true, cipher: 'aes256' }
  const leastChars = length('aes128')
  return leastChars <= maxChars ? { fits: true, cipher: 'aes128' } : { fits: false, leastChars }
}

/** Characters for so many bytes or a few fewer: of three lengths in a row, one has a checksum. */
function greatestLength(bytes: number): number {
  return Math.max(armoredLength(bytes), armoredLength(bytes - 1), armoredLength(bytes - 2))
}

/**
 * How many recipients of one kind fit beside a text, the bot, with a key as we make them, not
 * counted.
 * @param each bytes of one recipient packet, by cipher
 * @param armoredMax what the service takes; we seal no more than we would open
 */
export function capacity(each: CipherSizes, textBytes: number, armoredMax: number): number {
  const maxChars = Math.min(armoredMax, BOUNDS.messageChars)
  let low = 0
  let high = Math.ceil(maxChars / Math.max(1, each.aes128))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const all = { aes256: each.aes256 * middle, aes128: each.aes128 * middle }
    if (fit(all, { textBytes, maxChars, own: AS_MADE }).fits) low = middle
    else high = middle - 1
  }
  return low
}

/** More recipients than this fit into no message that the service takes. */
export const MOST_RECIPIENTS = capacity(leastRecipientBytes(), 1, BOUNDS.messageChars)
