/** Records by digest: a hash table in a few buffers, which grows with what is in it. */
import { DIGEST_BYTES, RECORD_BYTES, unpackRecord, packRecordInto } from './packed-record.ts'
import type { CertificateInfo } from './certificate-info.ts'

/** Records that are allotted at once. */
const CHUNK = 1024
const FREE = 0

/**
 * Keeps info under digests, at most `capacity` of them; then those that were not asked for since
 * the last round make room. 100,000 take 13 MB.
 */
export class RecordTable {
  readonly #capacity: number
  /** Places of records plus one, by digest; open addressing, the next slot when one is taken. */
  readonly #slots: Uint32Array
  readonly #chunks: Buffer[] = []
  /** One for a record that was asked for since the hand last passed it. */
  readonly #isRecent: Uint8Array
  #size = 0
  #hand = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#slots = new Uint32Array(Math.ceil(capacity * 1.25) + 1)
    this.#isRecent = new Uint8Array(capacity)
  }

  get size(): number {
    return this.#size
  }

  /** Bytes that are taken up. */
  get byteLength(): number {
    const records = this.#chunks.reduce((sum, { length }) => sum + length, 0)
    return records + this.#slots.byteLength + this.#isRecent.byteLength
  }

  get(digest: Buffer): CertificateInfo | null {
    const place = this.#slots[this.#slotOf(digest)] ?? FREE
    if (place === FREE) return null
    this.#isRecent[place - 1] = 1
    const { chunk, at } = this.#where(place - 1)
    return unpackRecord(chunk, at)
  }

  /** Keeps info, in place of those that were there under the same digest. */
  set(digest: Buffer, info: CertificateInfo): void {
    let slot = this.#slotOf(digest)
    let place = this.#slots[slot] ?? FREE
    if (place === FREE) {
      place = (this.#size < this.#capacity ? this.#size++ : this.#makeRoom()) + 1
      // Making room moves others.
      slot = this.#slotOf(digest)
      this.#slots[slot] = place
    }
    const { chunk, at } = this.#where(place - 1)
    packRecordInto(chunk, at, { digest, info })
    this.#isRecent[place - 1] = 1
  }

  /** Forgets everything. */
  clear(): void {
    this.#slots.fill(FREE)
    this.#isRecent.fill(0)
    this.#chunks.length = 0
    this.#size = 0
    this.#hand = 0
  }

  /** The slot that holds a digest, or the free one where it would stand. */
  #slotOf(digest: Buffer): number {
    let slot = digest.readUInt32BE(0) % this.#slots.length
    for (;;) {
      const place = this.#slots[slot] ?? FREE
      if (place === FREE) return slot
      const { chunk, at } = this.#where(place - 1)
      if (digest.compare(chunk, at, at + DIGEST_BYTES, 0, DIGEST_BYTES) === 0) return slot
      slot = (slot + 1) % this.#slots.length
    }
  }

  #where(place: number): { chunk: Buffer; at: number } {
    const index = Math.floor(place / CHUNK)
    while (this.#chunks.length <= index) this.#chunks.push(Buffer.alloc(CHUNK * RECORD_BYTES))
    const chunk = this.#chunks[index] ?? Buffer.alloc(0)
    return { chunk, at: (place % CHUNK) * RECORD_BYTES }
  }

  /** Drops one record that was not asked for lately, and gives its place. */
  #makeRoom(): number {
    while (this.#isRecent[this.#hand] === 1) {
      this.#isRecent[this.#hand] = 0
      this.#hand = (this.#hand + 1) % this.#capacity
    }
    const place = this.#hand
    this.#hand = (place + 1) % this.#capacity
    const { chunk, at } = this.#where(place)
    this.#free(this.#slotOf(chunk.subarray(at, at + DIGEST_BYTES)))
    return place
  }

  /** Frees a slot, and moves up what was put further on because it had been taken. */
  #free(slot: number): void {
    this.#slots[slot] = FREE
    for (let next = (slot + 1) % this.#slots.length; ; next = (next + 1) % this.#slots.length) {
      const place = this.#slots[next] ?? FREE
      if (place === FREE) return
      this.#slots[next] = FREE
      const { chunk, at } = this.#where(place - 1)
      this.#slots[this.#slotOf(chunk.subarray(at, at + DIGEST_BYTES))] = place
    }
  }
}
