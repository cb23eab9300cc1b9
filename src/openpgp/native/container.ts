/** A version 1 container while it arrives, decrypted piece by piece. */
import { createHash } from 'node:crypto'
import { BOUNDS } from '../bounds.ts'
import { cipherOf, type SymmetricKey } from '../format/ciphers.ts'
import { CfbDecipher, Version1 } from '../crypto/seipd-stream.ts'
import type { FoundKey } from '../format/recipient-scan.ts'
import type { StreamedPacket } from '../format/packet-stream.ts'
import type { RawFile } from '../stream/resting.ts'

/** Bytes written to the disk at once: whole blocks of every cipher. */
const BLOCK_BYTES = 262_144
/** How many of them may be on their way there. */
const BLOCKS = 3
/** Decrypted, hashed and read while it is still in the processor’s cache. */
const SLICE_BYTES = 65_536

interface Slot {
  block: Uint8Array
  written: Promise<void>
}

/** Reads one container with one session key. */
export class Container {
  readonly #packet: StreamedPacket
  readonly raw: RawFile
  readonly key: SymmetricKey
  readonly #version1: Version1
  /** Hash of data within the length of a message: the same identity as a message has. */
  readonly #small = createHash('sha256').update(Buffer.from([1]))
  #bytes = 0
  #keeps = true
  /** Whether all of it went by and nothing was changed. */
  isIntact = false

  /** @param packet its version byte is read already */
  constructor(packet: StreamedPacket, o: { raw: RawFile; key: SymmetricKey }) {
    this.#packet = packet
    this.raw = o.raw
    this.key = o.key
    this.#version1 = new Version1(o.key)
  }

  /** How far a position of the packets inside is from the same in the file at rest. */
  get restingOffset(): number {
    return this.#version1.prefixBytes
  }

  get blockBytes(): number {
    return this.#version1.prefixBytes - 2
  }

  /** Begins to decrypt it at rest, at the speed of ECB. @param before as `CfbDecipher` */
  decipher(before?: Uint8Array): CfbDecipher {
    return new CfbDecipher(this.key, before)
  }

  /** Nothing of it need be kept: from now on it only goes by. */
  forget(): void {
    this.#keeps = false
  }

  /** The packets inside, not proven yet. @throws FramingError when the container is cut off */
  async *packets(): AsyncGenerator<Uint8Array> {
    for await (const block of this.#blocks()) {
      this.#bytes += block.length
      if (this.#bytes <= BOUNDS.messageChars) this.#small.update(block)
      for (let at = 0; at < block.length; at += SLICE_BYTES) {
        yield* this.#version1.update(block.subarray(at, at + SLICE_BYTES))
      }
    }
    this.isIntact = this.#version1.end()
  }

  /**
   * The identity of the encrypted data, once it is intact. Data longer than a message is identified
   * by its session key and its hash, which determine the ciphertext.
   */
  get digest(): string {
    if (this.#bytes <= BOUNDS.messageChars) return this.#small.copy().digest('hex')
    const whole = createHash('sha256').update('version 1').update(this.key.data)
    return whole.update(this.#version1.digest).digest('hex')
  }

  /** Fills blocks in turn; one is used again once it is on the disk. */
  async *#blocks(): AsyncGenerator<Uint8Array> {
    const slots: Slot[] = []
    for (let filled = BLOCK_BYTES; filled === BLOCK_BYTES;) {
      const slot = slots.length < BLOCKS ? emptySlot() : slots.shift()
      if (slot === undefined) return
      slots.push(slot)
      await slot.written
      filled = await this.#packet.into(slot.block)
      const block = slot.block.subarray(0, filled)
      slot.written = this.#keeps ? this.raw.append(block) : Promise.resolve()
      // It is awaited in its turn; until then its failure is nobody's surprise.
      slot.written.catch(() => undefined)
      yield block
    }
    await Promise.all(slots.map(({ written }) => written))
  }
}

const emptySlot = (): Slot => ({ block: new Uint8Array(BLOCK_BYTES), written: Promise.resolve() })

/** A session key that a container can be decrypted with while it arrives. */
export type NativeKey = FoundKey & SymmetricKey

/**
 * The one key to decrypt with; null when the library must try. Where recipient packets hold several
 * keys, the quick check chooses. It is no oracle: all data is decrypted in any case, and all later
 * failures are the same (RFC 9580, 13.4).
 */
export function choose(found: FoundKey[], prefix: Uint8Array): NativeKey | null {
  const native = found.filter(
    (key): key is NativeKey => key.algorithm !== null && cipherOf(key as SymmetricKey) !== null,
  )
  if (native.length < found.length) return null
  return native.find((key) => seemsRight(key, prefix)) ?? native[0] ?? null
}

function seemsRight(key: SymmetricKey, prefix: Uint8Array): boolean {
  const cipher = new CfbDecipher(key)
  const at = cipher.blockBytes
  const plain = cipher.update(prefix)
  return plain.subarray(at - 2, at).equals(plain.subarray(at, at + 2))
}
