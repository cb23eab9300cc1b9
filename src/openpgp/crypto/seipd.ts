/**
 * Symmetrically Encrypted and Integrity Protected Data, version 1 (RFC 9580, 5.13.1): at once for
 * messages, piece by piece for files. The quick-check bytes are never looked at (RFC 9580, 13.4).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hash,
  randomFillSync,
  timingSafeEqual,
  type Hash,
} from 'node:crypto'
import { CfbDecipher } from './cfb.ts'
import { cipherNamed, cipherOf, type CipherInfo, type SymmetricKey } from './ciphers.ts'

const VERSION = Buffer.from([1])
/** The random block is followed by its last two bytes again, the quick check. */
const REPEATED = 2
/** Modification Detection Code packet: two header bytes and a SHA-1 hash. */
const MDC_HEADER = Buffer.from([0xd3, 0x14])
const MDC_BYTES = 22
/** Of AES, the ciphers that messages are opened and sealed with at once. */
const BLOCK = 16
const PREFIX = BLOCK + REPEATED
const NO_VECTOR = Buffer.alloc(BLOCK)

/** True when `openVersion1` takes the algorithm; others are left to the library. */
export function isNativeCipher(algorithm: string): boolean {
  return cipherNamed(algorithm)?.blockBytes === BLOCK
}

function aesOf(key: SymmetricKey): CipherInfo | null {
  const cipher = cipherOf(key)
  return cipher?.blockBytes === BLOCK ? cipher : null
}

/**
 * Takes the container's body and a session key. Gives the packets inside, or null when the key is
 * not the one or a single bit was changed: nothing is looked at before the hash holds.
 */
export function openVersion1(container: Uint8Array, sessionKey: SymmetricKey): Uint8Array | null {
  const cipher = aesOf(sessionKey)
  if (cipher === null) return null
  if (container[0] !== 1 || container.length < 1 + PREFIX + MDC_BYTES) return null
  // A bare buffer for a key costs node:crypto ten microseconds more.
  const decipher = createDecipheriv(cipher.cfb, createSecretKey(sessionKey.data), NO_VECTOR)
  // In this mode all of it comes at once: nothing is left for `final`.
  const plain = decipher.update(container.subarray(1))
  const end = plain.length - MDC_BYTES
  const computed = hash('sha1', plain.subarray(0, end + MDC_HEADER.length), 'buffer')
  const marked = plain[end] === MDC_HEADER[0] && plain[end + 1] === MDC_HEADER[1]
  const intact = timingSafeEqual(computed, plain.subarray(end + MDC_HEADER.length))
  return marked && intact ? plain.subarray(PREFIX, end) : null
}

/**
 * Undoes `openVersion1`: takes packets and a session key that encrypts nothing else. Gives the
 * container's body.
 * @throws Error for another algorithm or a key of another size
 */
export function sealVersion1(packets: Uint8Array, sessionKey: SymmetricKey): Buffer {
  const cipher = aesOf(sessionKey)
  if (cipher === null) throw new Error('cipher')
  const plain = Buffer.alloc(PREFIX + packets.length + MDC_BYTES)
  randomFillSync(plain, 0, BLOCK)
  plain.copy(plain, BLOCK, BLOCK - REPEATED, BLOCK)
  plain.set(packets, PREFIX)
  const end = plain.length - MDC_BYTES
  plain.set(MDC_HEADER, end)
  const hashed = plain.subarray(0, end + MDC_HEADER.length)
  plain.set(hash('sha1', hashed, 'buffer'), hashed.length)
  const encipher = createCipheriv(cipher.cfb, createSecretKey(sessionKey.data), NO_VECTOR)
  const body = Buffer.concat([VERSION, encipher.update(plain)])
  plain.fill(0)
  return body
}

/** Opens one piece by piece. What it gives must not reach anybody before `end` is true. */
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
   * Takes the next bytes of the container's body after its version byte; all pieces but the last
   * are whole blocks. Gives the packets inside as far as they are known not to be the hash at the
   * end: none, one or two pieces that follow each other, good until more is asked for.
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
