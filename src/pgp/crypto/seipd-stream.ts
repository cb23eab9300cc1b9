/**
 * Symmetrically Encrypted and Integrity Protected Data, version 1 (RFC 9580, 5.13.1), piece by
 * piece. What it gives must not reach anybody before `intact` is true.
 */
import { createHash, timingSafeEqual, type Hash } from 'node:crypto'
import { CfbDecipher, type SessionKey } from './cfb.ts'

/** Modification Detection Code packet: two header bytes and a SHA-1 hash (RFC 9580, 5.13.1). */
const MDC = Buffer.from([0xd3, 0x14])
const MDC_BYTES = 22
/** The random block is followed by its last two bytes again, the quick check. */
const REPEATED = 2

export class Version1 {
  /** Where the first byte that it gives lies in the ciphertext, behind the random block. */
  readonly prefixBytes: number
  readonly #cipher: CfbDecipher
  readonly #hash: Hash = createHash('sha1')
  #prefixLeft: number
  /** The last bytes so far, which may be the hash. */
  #held: Buffer = Buffer.alloc(0)
  #digest: Buffer | null = null

  /** @param key one that `isNative` is true for */
  constructor(key: SessionKey) {
    this.#cipher = new CfbDecipher(key)
    this.prefixBytes = this.#cipher.blockBytes + REPEATED
    this.#prefixLeft = this.prefixBytes
  }

  /**
   * Takes the next bytes of the container's body after its version byte; all pieces but the last
   * are whole blocks. Gives the packets inside as far as they are known not to be the hash at the
   * end: none, one or two pieces that follow each other, good until more is asked for. The quick
   * check is never looked at (RFC 9580, 13.4).
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
    const digest = this.#hash.update(MDC).digest()
    const held = Buffer.concat([this.#held], MDC_BYTES)
    const marked = timingSafeEqual(held.subarray(0, MDC.length), MDC)
    const intact = timingSafeEqual(held.subarray(MDC.length), digest)
    const whole = this.#prefixLeft === 0 && this.#held.length === MDC_BYTES
    this.#digest = marked && intact && whole ? digest : null
    return this.#digest !== null
  }

  /** The hash over everything inside, once `end` was true. */
  get digest(): Buffer {
    if (this.#digest === null) throw new Error('not intact')
    return this.#digest
  }
}
