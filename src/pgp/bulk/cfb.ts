/**
 * CFB decryption at the speed of ECB. A block of plain text is the encryption of the ciphertext
 * block before it, XOR its own: unlike encryption it can be done side by side, which OpenSSL does
 * for ECB and not for CFB. ECB is used here as that keystream and for nothing else.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type Cipheriv } from 'node:crypto'

/** A symmetric key by the library's name of its algorithm. */
export interface SessionKey {
  algorithm: string
  data: Uint8Array
}

interface Cipher {
  keyOctets: number
  blockOctets: number
  cfb: string
  /** Only where the block is four words. */
  ecb?: string
}

/** The ciphers that node:crypto has (RFC 9580, 9.3); the others are the library's. */
const CIPHERS: Readonly<Record<string, Cipher>> = {
  aes128: { keyOctets: 16, blockOctets: 16, cfb: 'aes-128-cfb', ecb: 'aes-128-ecb' },
  aes192: { keyOctets: 24, blockOctets: 16, cfb: 'aes-192-cfb', ecb: 'aes-192-ecb' },
  aes256: { keyOctets: 32, blockOctets: 16, cfb: 'aes-256-cfb', ecb: 'aes-256-ecb' },
  tripledes: { keyOctets: 24, blockOctets: 8, cfb: 'des-ede3-cfb' },
}

/** True when `CfbDecipher` takes the key. */
export function isNative({ algorithm, data }: SessionKey): boolean {
  return cipherOf(algorithm)?.keyOctets === data.length
}

function cipherOf(algorithm: string): Cipher | undefined {
  return Object.hasOwn(CIPHERS, algorithm) ? CIPHERS[algorithm] : undefined
}

const WORDS = 4
const BLOCK = 16

/** Decrypts one ciphertext, piece by piece. */
export class CfbDecipher {
  readonly blockOctets: number
  readonly #whole: { update(octets: Uint8Array): Buffer } | null
  readonly #keystream: Cipheriv | null
  /** The keystream of the next block. */
  #next: Uint32Array = new Uint32Array(WORDS)
  #isAtEnd = false

  /**
   * @param key one that `isNative` is true for
   * @param before the ciphertext block before the first; absent: the first is the first
   * @throws Error for any other key
   */
  constructor(key: SessionKey, before?: Uint8Array) {
    const cipher = cipherOf(key.algorithm)
    if (cipher === undefined || !isNative(key)) throw new Error('cipher')
    const { blockOctets, cfb, ecb } = cipher
    const secret = createSecretKey(key.data)
    const start = before ?? new Uint8Array(blockOctets)
    this.blockOctets = blockOctets
    this.#whole = ecb === undefined ? createDecipheriv(cfb, secret, start) : null
    this.#keystream =
      ecb === undefined ? null : createCipheriv(ecb, secret, null).setAutoPadding(false)
    if (this.#keystream !== null) this.#next = wordsOf(this.#keystream.update(start))
  }

  /**
   * Gives the plain text of one piece, in memory of its own.
   * @param octets whole blocks, but for the last piece of all
   * @throws Error for a piece after one that did not end with a block
   */
  update(octets: Uint8Array): Buffer {
    if (this.#keystream === null) return this.#whole?.update(octets) ?? Buffer.alloc(0)
    if (octets.length === 0) return Buffer.alloc(0)
    if (this.#isAtEnd) throw new Error('a piece after the last')
    const over = octets.length % BLOCK
    if (over === 0) return this.#decrypt(octets, this.#keystream)
    this.#isAtEnd = true
    const padded = Buffer.concat([octets], octets.length + BLOCK - over)
    return this.#decrypt(padded, this.#keystream).subarray(0, octets.length)
  }

  #decrypt(octets: Uint8Array, cipher: Cipheriv): Buffer {
    const plain = cipher.update(octets)
    const words = wordsOf(plain)
    const first = this.#next
    this.#next = words.slice(-WORDS)
    xorShifted(words, wordsOf(octets), first)
    return words.buffer === plain.buffer ? plain : Buffer.from(words.buffer)
  }
}

/**
 * XORs ciphertext into the keystream, in place and from the end, since each block of keystream is
 * for the block after it. Four words a turn: twice as fast as one.
 */
function xorShifted(keystream: Uint32Array, ciphertext: Uint32Array, first: Uint32Array): void {
  const k = keystream
  const c = ciphertext
  for (let at = k.length - WORDS; at >= WORDS; at -= WORDS) {
    k[at + 3] = (c[at + 3] ?? 0) ^ (k[at - 1] ?? 0)
    k[at + 2] = (c[at + 2] ?? 0) ^ (k[at - 2] ?? 0)
    k[at + 1] = (c[at + 1] ?? 0) ^ (k[at - 3] ?? 0)
    k[at] = (c[at] ?? 0) ^ (k[at - 4] ?? 0)
  }
  for (let at = 0; at < WORDS; at++) k[at] = (c[at] ?? 0) ^ (first[at] ?? 0)
}

/** The octets as words; where they do not lie on a word's boundary, a copy. */
function wordsOf(octets: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = octets
  if (byteOffset % 4 === 0) return new Uint32Array(buffer, byteOffset, length / 4)
  return new Uint32Array(new Uint8Array(octets).buffer)
}
