/**
 * Version 1 containers piece by piece (RFC 9580, 5.13.1), and their CFB decryption at the speed of
 * ECB. A block of plain text is the encryption of the ciphertext block before it, XOR its own:
 * unlike encryption it can be done side by side, which OpenSSL does for ECB and not for CFB. ECB is
 * used here as that keystream and for nothing else.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  timingSafeEqual,
} from 'node:crypto'
import type { Cipheriv, Hash } from 'node:crypto'
import { MDC_BYTES, MDC_HEADER, REPEATED } from './seipd.ts'
import { cipherOf, type SymmetricKey } from '../format/ciphers.ts'

/** Opens one piece by piece. Its output must not reach anybody before `end` is true. */
export class Version1 {
  /** Where the first byte that it gives lies in the ciphertext, behind the random block. */
  readonly prefixBytes: number
  readonly #cipher: CfbDecipher
  readonly #hash: Hash = createHash('sha1')
  #prefixLeft: number
  /** The last bytes so far, which may be the hash. */
  #held: Buffer = Buffer.alloc(0)
  #digest: Buffer | null = null

  /** @param key one that `cipherOf` knows */
  constructor(key: SymmetricKey) {
    this.#cipher = new CfbDecipher(key)
    this.prefixBytes = this.#cipher.blockBytes + REPEATED
    this.#prefixLeft = this.prefixBytes
  }

  /**
   * Decrypts the next bytes of the container's body after its version byte; all pieces but the
   * last are whole blocks. Gives the decrypted packets without bytes that may belong to the hash
   * at the end: at most two consecutive pieces, valid until the next call.
   */
  update(bytes: Uint8Array): Buffer[] {
    let plain = this.#cipher.update(bytes)
    const prefix = plain.subarray(0, this.#prefixLeft)
    this.#prefixLeft -= prefix.length
    this.#hash.update(prefix)
    plain = plain.subarray(prefix.length)
    if (plain.length < MDC_BYTES) {
      plain = Buffer.concat([this.#held, plain])
      this.#held = Buffer.alloc(0)
    }
    const known = Math.max(0, plain.length - MDC_BYTES)
    const pieces = [this.#held, plain.subarray(0, known)].filter(({ length }) => length > 0)
    this.#held = Buffer.from(plain.subarray(known))
    for (const piece of pieces) this.#hash.update(piece)
    return pieces
  }

  /**
   * Ends it. True when nothing was changed and the key was the one; false for everything else that
   * can be wrong, in the same time.
   */
  end(): boolean {
    const digest = this.#hash.update(MDC_HEADER).digest()
    const held = Buffer.concat([this.#held], MDC_BYTES)
    const marked = timingSafeEqual(held.subarray(0, MDC_HEADER.length), MDC_HEADER)
    const intact = timingSafeEqual(held.subarray(MDC_HEADER.length), digest)
    const whole = this.#held.length === MDC_BYTES
    this.#digest = marked && intact && whole ? digest : null
    return this.#digest !== null
  }

  /** The hash over everything inside, once `end` was true. */
  get digest(): Buffer {
    if (this.#digest === null) throw new Error('not intact')
    return this.#digest
  }
}

const WORDS = 4
const BLOCK = 16

/** Decrypts one ciphertext, piece by piece. */
export class CfbDecipher {
  readonly blockBytes: number
  readonly #whole: { update(bytes: Uint8Array): Buffer } | null
  readonly #keystream: Cipheriv | null
  /** The keystream of the next block. */
  #next: Uint32Array = new Uint32Array(WORDS)
  /** The piece of the last call, whose memory the next call reuses. */
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
