/** How large a sealed message becomes, known before any of it is computed. */
import { armoredLength } from './armor.ts'
import type { Cipher, CipherSizes } from './engine.ts'

/** The bot's own recipient packet: Curve25519. */
const OWN: CipherSizes = { aes256: 96, aes128: 80 }
/**
 * Octets of container, signature and literal around a text. They vary with the length of packet
 * headers and with signature numbers that begin with zeros.
 */
const AROUND_LEAST = 248
const AROUND_MOST = 264

/** Why nothing can be sealed, or the cipher with which it fits. */
export type Fit = { fits: true; cipher: Cipher } | { fits: false; leastChars: number }

/**
 * Chooses the cipher for a message: AES-256, or AES-128 where only that lets it fit.
 * @param recipientBytes octets of all recipient packets but our own, by cipher
 * @param textBytes octets of the text in UTF-8
 * @param maxChars what the service takes (`armoredMax`)
 */
export function fit(recipientBytes: CipherSizes, textBytes: number, maxChars: number): Fit {
  const length = (cipher: Cipher, around: number): number =>
    armoredLength(recipientBytes[cipher] + OWN[cipher] + textBytes + around)
  if (length('aes256', AROUND_MOST) <= maxChars) return { fits: true, cipher: 'aes256' }
  const leastChars = length('aes128', AROUND_LEAST)
  return leastChars <= maxChars ? { fits: true, cipher: 'aes128' } : { fits: false, leastChars }
}

/**
 * How many recipients of one kind fit beside a text.
 * @param each octets of one recipient packet, by cipher
 */
export function capacity(each: CipherSizes, textBytes: number, maxChars: number): number {
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
