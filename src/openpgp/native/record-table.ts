/** Certificate info as records of 124 bytes, in a hash table that grows with them. */
import { POINT_BYTES } from '../crypto/curve25519.ts'
import {
  SIGNING_POINT_BYTES,
  findSignatureAlgorithm,
  recipientAlgorithm,
} from '../crypto/algorithms.ts'
import { DIGEST_BYTES } from '../certificate-statuses.ts'
import type { CertificateInfo } from './certificate-info.ts'

/** Records that are allotted at once. */
const CHUNK = 1024
const FREE = 0

/**
 * Keeps info under digests, at most `capacity` of them; then a record that was not read since the
 * last pass of the clock hand is evicted. 100,000 occupy 13 MB.
 */
export class RecordTable {
  readonly #capacity: number
  /** Places of records plus one, by digest; open addressing with linear probing. */
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

  /** Bytes held. */
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
    chunk.set(packRecord(info, digest), at)
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

  /** The slot of a digest, or the free one for it. */
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

  /** Frees a slot, and moves up the records that had been displaced by it. */
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

const FINGERPRINT_BYTES = 20

const AT = layOut([
  ['digest', DIGEST_BYTES],
  ['fingerprint', FINGERPRINT_BYTES],
  ['signingPoint', SIGNING_POINT_BYTES],
  ['recipientPoint', POINT_BYTES],
  ['signingCreated', 4],
  ['recipientCreated', 4],
  ['from', 4],
  ['until', 4],
  /** Zero when it verifies nothing. */
  ['signingAlgorithm', 1],
  ['recipientAlgorithm', 1],
  ['flags', 2],
  ['end', 0],
])
const RECORD_BYTES = AT.end

const FLAG = { primarySigns: 1, hasNoOtherKey: 2, readsAes256: 4 } as const

/** Whether a record has room for a key to seal to; one of ML-KEM is ten times as long as a record. */
export function fitsRecord({ recipientKey }: CertificateInfo): boolean {
  return recipientKey.point.length <= POINT_BYTES
}

/** Writes a record; `info` is of `fitsRecord`. @param digest absent for one by itself */
export function packRecord(info: CertificateInfo, digest: Uint8Array = NO_DIGEST): Uint8Array {
  const record = Buffer.alloc(RECORD_BYTES)
  const { recipientKey, signingKey } = info
  const flags =
    (info.primarySigns ? FLAG.primarySigns : 0) |
    (info.hasNoOtherKey ? FLAG.hasNoOtherKey : 0) |
    (info.readsAes256 ? FLAG.readsAes256 : 0)
  record.set(digest, AT.digest)
  record.set(info.fingerprint, AT.fingerprint)
  if (signingKey !== null) record.set(signingKey.point, AT.signingPoint)
  record.set(recipientKey.point, AT.recipientPoint)
  record.writeUInt32BE(signingKey?.createdS ?? 0, AT.signingCreated)
  record.writeUInt32BE(recipientKey.createdS, AT.recipientCreated)
  record.writeUInt32BE(info.fromS, AT.from)
  record.writeUInt32BE(info.untilS, AT.until)
  record[AT.signingAlgorithm] = signingKey?.algorithm ?? 0
  record[AT.recipientAlgorithm] = recipientKey.algorithm
  record.writeUInt16BE(flags, AT.flags)
  return record
}

const NO_DIGEST = Buffer.alloc(DIGEST_BYTES)

/** Reads the record at `at`; its bytes are copied, since a record may be replaced. */
export function unpackRecord(source: Buffer, at: number): CertificateInfo {
  const record = Buffer.from(source.subarray(at, at + RECORD_BYTES))
  const flags = record.readUInt16BE(AT.flags)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const recipient = recipientAlgorithm(record[AT.recipientAlgorithm] ?? 0)
  const signing = findSignatureAlgorithm(record[AT.signingAlgorithm])
  const point = (start: number, bytes: number): Buffer => record.subarray(start, start + bytes)
  return {
    fingerprint: point(AT.fingerprint, FINGERPRINT_BYTES),
    recipientKey: {
      algorithm: recipient.id,
      createdS: record.readUInt32BE(AT.recipientCreated),
      point: point(AT.recipientPoint, recipient.publicBytes),
    },
    signingKey: signing && {
      algorithm: signing.id,
      createdS: record.readUInt32BE(AT.signingCreated),
      point: point(AT.signingPoint, signing.publicBytes),
    },
    primarySigns: has(FLAG.primarySigns),
    hasNoOtherKey: has(FLAG.hasNoOtherKey),
    readsAes256: has(FLAG.readsAes256),
    fromS: record.readUInt32BE(AT.from),
    untilS: record.readUInt32BE(AT.until),
  }
}

/** Where each field begins, one behind the other. */
function layOut<N extends string>(fields: [N, number][]): Record<N, number> {
  let at = 0
  const starts = fields.map(([name, bytes]) => [name, (at += bytes) - bytes] as const)
  return Object.fromEntries(starts) as Record<N, number>
}
