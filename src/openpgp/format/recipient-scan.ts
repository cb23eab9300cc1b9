/** The recipient packets of a message (RFC 9580, 5.1): all are counted, only ours are kept. */
import { BOUNDS } from '../bounds.ts'
import { hexOf } from '../bytes.ts'
import type { NamedRecipients, NotOpened, UnlockedKey } from '../engine.ts'
import { COMPOSITE, TAG, packetAt } from './packets.ts'
import { framePacket } from './packet-writer.ts'

/** Whose message it may be: ids and fingerprints of our keys and subkeys, lower-case hex. */
export interface OwnIds {
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
  /** How many own keys an anonymous packet would be tried with. */
  keyCount: number
}

/** Of one key alone, for as long as it is held. */
const idsOfOne = new WeakMap<UnlockedKey, OwnIds>()

/** Ids of own keys. */
export function ownIdsOf(keys: readonly UnlockedKey[]): OwnIds {
  const [only] = keys.length === 1 ? keys : []
  const known = only && idsOfOne.get(only)
  if (known !== undefined) return known
  const ids = {
    keyIds: new Set(keys.flatMap((key) => key.keyIds)),
    fingerprints: new Set(keys.flatMap((key) => key.fingerprints)),
    keyCount: keys.length,
  }
  if (only !== undefined) idsOfOne.set(only, ids)
  return ids
}

/** The recipient packets that are worth trying, each framed. */
export interface ScannedRecipients {
  recipientPackets: Uint8Array[]
  /** True when they name one of our keys, false when they name nobody. */
  named: boolean
  recipients: NamedRecipients
}

/** A session key, with the fingerprint of the own key that it was for. */
export interface FoundKey {
  /** Null where the container names the cipher (RFC 9580, 5.1.2). */
  algorithm: string | null
  data: Uint8Array
  fingerprint: string
}

/** Whether any is for a subkey of ML-KEM-768+X25519 (RFC 9580, 5.1.1 and 5.1.2). */
export const hasComposite = ({
  recipientPackets,
}: Pick<ScannedRecipients, 'recipientPackets'>): boolean =>
  recipientPackets.some((packet) => {
    const { body } = packetAt(packet, 0)
    return body[body[0] === 6 ? 2 + (body[1] ?? 0) : PKESK_LEAST - 1] === COMPOSITE
  })

const ANONYMOUS_KEY_ID = '0000000000000000'
/** A recipient packet in the new format, whose length of one byte is below `LONG`. */
const PLAIN_HEADER = 0xc0 | TAG.pkesk
const LONG = 192
/** Version, key id and algorithm. */
const PKESK_LEAST = 10
const KEY_ID_BYTES = 8

/** By first byte of a key id, 1 where it may be one of ours, or nobody's. */
type FirstBytes = Uint8Array
const firstBytes = new WeakMap<ReadonlySet<string>, FirstBytes>()

function firstBytesOf(keyIds: ReadonlySet<string>): FirstBytes {
  const known = firstBytes.get(keyIds)
  if (known !== undefined) return known
  const first = new Uint8Array(256)
  for (const keyId of [ANONYMOUS_KEY_ID, ...keyIds])
    first[Number.parseInt(keyId.slice(0, 2), 16)] = 1
  firstBytes.set(keyIds, first)
  return first
}

/** Scans recipient packets one by one; the packet of another recipient costs one comparison. */
export class RecipientScan {
  readonly #own: OwnIds
  readonly #firstBytes: FirstBytes
  readonly #named: Uint8Array[] = []
  readonly #anonymous: Uint8Array[] = []
  readonly #keyIds = new KeyIdList()
  #hasUnnamed = false
  /** How many recipient packets there were, for whomever. */
  count = 0

  constructor(own: OwnIds) {
    this.#own = own
    this.#firstBytes = firstBytesOf(own.keyIds)
  }

  get hasTooMany(): boolean {
    return this.count > BOUNDS.recipientPackets
  }

  /**
   * Passes over recipient packets of version 3 that name others, as programs write them, from `at`
   * on: in a large group they are nearly all that there is. @returns where another packet begins
   */
  skipOthers(bytes: Uint8Array, at: number): number {
    const first = this.#firstBytes
    const most = BOUNDS.recipientPackets + 1 - this.count
    let next = at
    let passed = 0
    for (; passed < most && bytes[next] === PLAIN_HEADER; passed++) {
      const length = bytes[next + 1] ?? 0
      const isPlain = length >= PKESK_LEAST && length < LONG && bytes[next + 2] === 3
      const end = next + 2 + length
      if (!isPlain || end > bytes.length) break
      if (first[bytes[next + 3] ?? 0] === 1 && this.#mayConcern(bytes, next + 3)) break
      this.#keyIds.add(bytes, next + 3)
      next = end
    }
    this.count += passed
    return next
  }

  /** Whether a key id is one of ours, or nobody's. */
  #mayConcern(bytes: Uint8Array, at: number): boolean {
    const keyId = hexOf(bytes.subarray(at, at + 8))
    return keyId === ANONYMOUS_KEY_ID || this.#own.keyIds.has(keyId)
  }

  /** Adds the body of one recipient packet; of a kind that is for a passphrase, only the count. */
  add(tag: number, body: Uint8Array): void {
    this.count++
    const recipient = tag === TAG.pkesk ? recipientOf(body) : null
    if (recipient === null || recipient === 'anonymous') {
      this.#hasUnnamed = true
      if (recipient === null) return
      // one more than are tried: then none is
      if (this.#anonymous.length > BOUNDS.anonymousPackets) return
      this.#anonymous.push(framePacket(tag, body))
    } else {
      this.#keyIds.add(body, recipient.keyIdAt)
      if (!isOurs(recipient.name, this.#own)) return
      if (this.#named.length < BOUNDS.namedAttempts) this.#named.push(framePacket(tag, body))
    }
  }

  /** The packets to try, or that none of them can be ours. */
  candidates(): ScannedRecipients | NotOpened {
    const { keyCount } = this.#own
    const named = this.#named.length > 0
    const tries = Math.max(1, Math.floor(BOUNDS.anonymousAttempts / Math.max(1, keyCount)))
    const recipientPackets = named ? this.#named : this.#anonymous.slice(0, tries)
    if (recipientPackets.length === 0 || keyCount === 0) return { outcome: 'not-recipient' }
    if (!named && this.#anonymous.length > BOUNDS.anonymousPackets) {
      return { outcome: 'not-recipient', reason: 'too-many-anonymous' }
    }
    const recipients = { keyIds: this.#keyIds.bytes(), hasUnnamed: this.#hasUnnamed }
    return { recipientPackets, named, recipients }
  }
}

/** Key ids one after the other, in memory that grows with them. */
class KeyIdList {
  #bytes = Buffer.allocUnsafe(32 * KEY_ID_BYTES)
  #length = 0

  /** Adds the 8 bytes at `at`. */
  add(from: Uint8Array, at: number): void {
    if (this.#length === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#bytes.length)])
    }
    // A view for each of a thousand would cost more than the scan of all of them.
    for (let n = 0; n < KEY_ID_BYTES; n++) this.#bytes[this.#length + n] = from[at + n] ?? 0
    this.#length += KEY_ID_BYTES
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }
}

/**
 * The recipient of a PKESK (RFC 9580, 5.1): its key id (v3) or fingerprint (v6), and the offset of the
 * key id, which is at the end of the fingerprint of a version 4 key, and at the start of a later one's.
 * @returns null for an unknown form
 */
function recipientOf(body: Uint8Array): { name: string; keyIdAt: number } | 'anonymous' | null {
  const [version, length = 0, keyVersion] = body
  if (version === 3 && body.length >= PKESK_LEAST) {
    const name = hexOf(body.subarray(1, 1 + KEY_ID_BYTES))
    return name === ANONYMOUS_KEY_ID ? 'anonymous' : { name, keyIdAt: 1 }
  }
  if (version !== 6 || keyVersion === undefined) return null
  if (length === 0) return 'anonymous'
  if (length < 1 + KEY_ID_BYTES || body.length <= 2 + length) return null
  const name = hexOf(body.subarray(3, 2 + length))
  return { name, keyIdAt: keyVersion === 4 ? 2 + length - KEY_ID_BYTES : 3 }
}

function isOurs(recipient: string, own: OwnIds): boolean {
  return own.keyIds.has(recipient) || own.fingerprints.has(recipient)
}
