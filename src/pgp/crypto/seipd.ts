/** Symmetrically Encrypted and Integrity Protected Data, version 1 (RFC 9580, 5.13.1). */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto'

const CIPHERS: Record<string, { name: string; keyBytes: number }> = {
  aes128: { name: 'aes-128-cfb', keyBytes: 16 },
  aes192: { name: 'aes-192-cfb', keyBytes: 24 },
  aes256: { name: 'aes-256-cfb', keyBytes: 32 },
}
const BLOCK = 16
const PREFIX = BLOCK + 2
const NO_VECTOR = Buffer.alloc(BLOCK)
/** Modification Detection Code packet: two header bytes and a SHA-1 hash (RFC 9580, 5.13.1). */
const MDC = 22
const MDC_HEADER = Buffer.from([0xd3, 0x14])
const VERSION = Buffer.from([1])

/** True when `openVersion1` takes the algorithm; others are left to the library. */
export function isNativeCipher(algorithm: string): boolean {
  return Object.hasOwn(CIPHERS, algorithm)
}

/**
 * Takes the container's body and a session key. Gives the packets inside, or null when the key is
 * not the one or a single bit was changed: nothing is looked at before the hash holds, the
 * quick-check bytes never (RFC 9580, 13.4).
 */
export function openVersion1(
  container: Uint8Array,
  sessionKey: { algorithm: string; data: Uint8Array },
): Uint8Array | null {
  const cipher = CIPHERS[sessionKey.algorithm]
  if (cipher === undefined || sessionKey.data.length !== cipher.keyBytes) return null
  if (container[0] !== 1 || container.length < 1 + PREFIX + MDC) return null
  // A bare buffer for a key costs node:crypto ten microseconds more.
  const decipher = createDecipheriv(cipher.name, createSecretKey(sessionKey.data), NO_VECTOR)
  // In this mode all of it comes at once: nothing is left for `final`.
  const plain = decipher.update(container.subarray(1))
  const end = plain.length - MDC
  const computed = hash('sha1', plain.subarray(0, end + 2), 'buffer')
  const marked = plain[end] === 0xd3 && plain[end + 1] === 0x14
  const intact = timingSafeEqual(computed, plain.subarray(end + 2))
  return marked && intact ? plain.subarray(PREFIX, end) : null
}

/**
 * Undoes `openVersion1`: takes packets and a session key that encrypts nothing else. Gives the
 * container's body.
 * @throws Error for another algorithm or a key of another size
 */
export function sealVersion1(
  packets: Uint8Array,
  sessionKey: { algorithm: string; data: Uint8Array },
): Buffer {
  const cipher = CIPHERS[sessionKey.algorithm]
  if (cipher === undefined || sessionKey.data.length !== cipher.keyBytes) throw new Error('cipher')
  const plain = Buffer.alloc(PREFIX + packets.length + MDC)
  randomFillSync(plain, 0, BLOCK)
  plain.copy(plain, BLOCK, BLOCK - 2, BLOCK)
  plain.set(packets, PREFIX)
  const end = plain.length - MDC
  plain.set(MDC_HEADER, end)
  plain.set(hash('sha1', plain.subarray(0, end + MDC_HEADER.length), 'buffer'), end + 2)
  const encipher = createCipheriv(cipher.name, createSecretKey(sessionKey.data), NO_VECTOR)
  const body = Buffer.concat([VERSION, encipher.update(plain)])
  plain.fill(0)
  return body
}
