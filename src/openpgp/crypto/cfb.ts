/**
 * CFB decryption at the speed of ECB. A block of plain text is the encryption of the ciphertext
 * block before it, XOR its own: unlike encryption it can be done side by side, which OpenSSL does
 * for ECB and not for CFB. ECB is used here as that keystream and for nothing else.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type Cipheriv } from 'node:crypto'
import { cipherOf, type SymmetricKey } from './ciphers.ts'

const WORDS = 4
const BLOCK = 16

/** Decrypts one ciphertext, piece by piece. */
export class CfbDecipher {
  readonly blockBytes: number
  readonly #whole: { update(bytes: Uint8Array): Buffer } | null
  readonly #keystream: Cipheriv | null
  /** The keystream of the next block. */
  #next: Uint32Array = new Uint32Array(WORDS)
  /** What was given last, of which the memory is used again. */
  #plain = Buffer.alloc(0)
  #isAtEnd = false

  /**
   * @param key one that `cipherOf` knows
   * @param before the ciphertext block before the first; absent: the first is the first
   * @throws Error for any other key
   */
  constructor(key: SymmetricKey, before?: Uint8Array) {
    const cipher = cipherOf(key)
    if (cipher === null) throw new Error('cipher')
    const { blockBytes, cfb, ecb } = cipher
    const secret = createSecretKey(key.data)
    const start = before ?? new Uint8Array(blockBytes)
    this.blockBytes = blockBytes
    this.#whole = ecb === undefined ? createDecipheriv(cfb, secret, start) : null
    this.#keystream =
      ecb === undefined ? null : createCipheriv(ecb, secret, null).setAutoPadding(false)
    if (this.#keystream !== null) this.#next = wordsOf(this.#keystream.update(start))
  }

  /**
   * Gives the plain text of one piece, which is good until the next is asked for.
   * @param bytes whole blocks, but for the last piece of all
   * @throws Error for a piece after one that did not end with a block
   */
  update(bytes: Uint8Array): Buffer {
    if (this.#keystream === null) return this.#whole?.update(bytes) ?? Buffer.alloc(0)
    if (bytes.length === 0) return Buffer.alloc(0)
    if (this.#isAtEnd) throw new Error('a piece after the last')
    const over = bytes.length % BLOCK
    if (over === 0) return this.#decrypt(bytes, this.#keystream)
    this.#isAtEnd = true
    const padded = Buffer.concat([bytes], bytes.length + BLOCK - over)
    return this.#decrypt(padded, this.#keystream).subarray(0, bytes.length)
  }

  #decrypt(bytes: Uint8Array, cipher: Cipheriv): Buffer {
    const keystream = cipher.update(bytes)
    if (this.#plain.length < bytes.length) this.#plain = Buffer.alloc(bytes.length)
    const plain = this.#plain.subarray(0, bytes.length)
    const words = wordsOf(keystream)
    xorShifted(wordsOf(plain), wordsOf(bytes), { keystream: words, first: this.#next })
    this.#next = words.slice(-WORDS)
    release(keystream)
    return plain
  }
}

/**
 * XORs ciphertext and keystream, of which each block is for the block after it. Four words a turn:
 * twice as fast as one.
 */
function xorShifted(
  plain: Uint32Array,
  ciphertext: Uint32Array,
  { keystream, first }: { keystream: Uint32Array; first: Uint32Array },
): void {
  for (let at = 0; at < WORDS; at++) plain[at] = (ciphertext[at] ?? 0) ^ (first[at] ?? 0)
  for (let at = WORDS; at < ciphertext.length; at += WORDS) {
    plain[at] = (ciphertext[at] ?? 0) ^ (keystream[at - 4] ?? 0)
    plain[at + 1] = (ciphertext[at + 1] ?? 0) ^ (keystream[at - 3] ?? 0)
    plain[at + 2] = (ciphertext[at + 2] ?? 0) ^ (keystream[at - 2] ?? 0)
    plain[at + 3] = (ciphertext[at + 3] ?? 0) ^ (keystream[at - 1] ?? 0)
  }
}

/** Frees memory at once: the garbage collector would let tens of MiB accumulate first. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The bytes as words; where they do not lie on a word's boundary, a copy. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes
  if (byteOffset % 4 === 0) return new Uint32Array(buffer, byteOffset, length / 4)
  return new Uint32Array(new Uint8Array(bytes).buffer)
}
