/** How large a sealed message becomes, known before any of it is computed. */
import { armoredLength } from './armor.ts'
import type { Cipher, CipherSizes } from './engine.ts'
import { framedLength } from './packets.ts'
import { BOUNDS } from './bounds.ts'

/** The bot's own recipient packet: Curve25519. */
const OWN: CipherSizes = { aes256: 96, aes128: 80 }
/** Format, length of an empty name, and date before a text (RFC 9580, 5.9). */
const LITERAL_FIXED = 6
/**
 * Octets that stand in the container beside the literal packet: version, prefix, one-pass
 * signature, signature, hash. Numbers that begin with zeros make it an octet or two fewer.
 */
const AROUND_LITERAL = 1 + 18 + 15 + 189 + 22

/** Why nothing can be sealed, or the cipher with which it fits. */
export type Fit = { fits: true; cipher: Cipher } | { fits: false; leastChars: number }

/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit. What fits here
 * never turns out too large.
 * @param recipientBytes octets of all recipient packets but our own, by cipher
 * @param textBytes octets of the text in UTF-8
 * @param maxChars what the service takes (`armoredMax`)
 */
export function fit(recipientBytes: CipherSizes, textBytes: number, maxChars: number): Fit {
  const container = framedLength(AROUND_LITERAL + framedLength(LITERAL_FIXED + textBytes))
  const length = (cipher: Cipher): number =>
    greatestLength(recipientBytes[cipher] + OWN[cipher] + container)
  if (length('aes256') <= maxChars) return { fits: true, cipher: 'aes256' }
  const leastChars = length('aes128')
  return leastChars <= maxChars ? { fits: true, cipher: 'aes128' } : { fits: false, leastChars }
}

/** Characters for so many octets or a few fewer: of three lengths in a row, one has a checksum. */
function greatestLength(octets: number): number {
  return Math.max(armoredLength(octets), armoredLength(octets - 1), armoredLength(octets - 2))
}

/**
 * How many recipients of one kind fit beside a text, the bot not counted.
 * @param each octets of one recipient packet, by cipher
 * @param armoredMax what the service takes; we seal no more than we would open
 */
export function capacity(each: CipherSizes, textBytes: number, armoredMax: number): number {
  const maxChars = Math.min(armoredMax, BOUNDS.messageChars)
  let low = 0
  let high = Math.ceil(maxChars / Math.max(1, each.aes128))
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const all = { aes256: each.aes256 * middle, aes128: each.aes128 * middle }
    if (fit(all, textBytes, maxChars).fits) low = middle
    else high = middle - 1
  }
  return low
}

/** The smallest recipient packet there is: X25519 (RFC 9580, 5.1.6), framed. */
const LEAST: CipherSizes = { aes256: 86, aes128: 70 }

/** More recipients than this fit into no message that the service takes. */
export const MOST_RECIPIENTS = capacity(LEAST, 1, BOUNDS.messageChars)
