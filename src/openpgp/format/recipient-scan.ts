/** The recipient packets of a message (RFC 9580, 5.1): all are counted, only ours are kept. */
import { BOUNDS } from '../bounds.ts'
import { hexOf } from '../bytes.ts'
import type { NamedRecipients, NotOpened, UnlockedKey } from '../engine.ts'
import { ReadError, TAG, packetAt } from './packets.ts'
import { framePacket } from './packet-writer.ts'

/** Whose message it may be: ids and fingerprints of our keys and subkeys, lower-case hex. */
export interface OwnIds {
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
  /** Own keys that an anonymous packet is tried with; a held key, which has a rate, counts six. */
  attemptCost: number
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
    attemptCost: keys.reduce((sum, { holder }) => sum + (holder === undefined ? 1 : 6), 0),
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
  /** Null where the container names the cipher (RFC 9580, 5.1.2); or `UNREAD_CIPHER`. */
  algorithm: string | null
  data: Uint8Array
  fingerprint: string
}

/** In place of the name of a cipher that is not read. */
export const UNREAD_CIPHER = 'unread'

/** Why a container does not open with session keys that were found. */
export const undecryptable = (found: readonly FoundKey[]): NotOpened => {
  const isUnread = found.length > 0 && found.every(({ algorithm }) => algorithm === UNREAD_CIPHER)
  return { outcome: 'damaged', reason: isUnread ? 'cipher' : 'decryption' }
}

/** The public key algorithm of a framed recipient packet (RFC 9580, 5.1.1 and 5.1.2). */
export function algorithmIn(framed: Uint8Array): number | undefined {
  const { body } = packetAt(framed, 0)
  return body[body[0] === 6 ? 2 + (body[1] ?? 0) : PKESK_LEAST - 1]
}

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
  #anonymousBytes = 0
  readonly #keyIds = new KeyIdList()
  #hasUnnamed = false
  /** How many recipient packets there were, for whomever. */
  count = 0

  constructor(own: OwnIds) {
    this.#own = own
    this.#firstBytes = firstBytesOf(own.keyIds)
  }

  /**
   * Passes over recipient packets of version 3 that name others, as programs write them, from `at`
   * on: in a large group they are nearly all that there is.
   * @returns where another packet begins
   * @throws ReadError for too many
   */
  skipOthers(bytes: Uint8Array, at: number): number {
    const first = this.#firstBytes
    const most = BOUNDS.recipientPackets + 1 - this.count
    if (bytes[at] !== PLAIN_HEADER) return at
    this.#keyIds.reserve(Math.min(most, (bytes.length - at) / (2 + (bytes[at + 1] ?? 0))))
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
    this.#count(passed)
    return next
  }

  /** Whether a key id is one of ours, or nobody's. */
  #mayConcern(bytes: Uint8Array, at: number): boolean {
    const keyId = hexOf(bytes.subarray(at, at + 8))
    return keyId === ANONYMOUS_KEY_ID || this.#own.keyIds.has(keyId)
  }

  /**
   * Adds the body of one recipient packet; of a kind that is for a passphrase, only the count.
   * @throws ReadError for too many
   */
  add(tag: number, body: Uint8Array): void {
    this.#count(1)
    const recipient = tag === TAG.pkesk ? recipientOf(body) : null
    if (recipient === null || recipient === 'anonymous') {
      this.#hasUnnamed = true
      if (recipient === null) return
      this.#anonymousBytes += body.length
      if (this.#canTryAnonymous) this.#anonymous.push(framePacket(tag, body))
    } else {
      this.#keyIds.add(body, recipient.keyIdAt)
      if (!isOurs(recipient.name, this.#own)) return
      if (this.#named.length < BOUNDS.namedAttempts) this.#named.push(framePacket(tag, body))
    }
  }

  #count(packets: number): void {
    this.count += packets
    if (this.count <= BOUNDS.recipientPackets) return
    throw new ReadError({ outcome: 'too-large', reason: 'recipients' })
  }

  get #canTryAnonymous(): boolean {
    return this.#anonymousBytes * this.#own.attemptCost <= BOUNDS.anonymousBytes
  }

  /** The packets to try, or that none of them can be ours. */
  candidates(): ScannedRecipients | NotOpened {
    const named = this.#named.length > 0
    const recipientPackets = named ? this.#named : this.#anonymous
    if (this.#own.attemptCost === 0) return { outcome: 'not-recipient' }
    if (!named && !this.#canTryAnonymous) {
      return { outcome: 'not-recipient', reason: 'too-many-anonymous' }
    }
    if (recipientPackets.length === 0) return { outcome: 'not-recipient' }
    const recipients = { keyIds: this.#keyIds.bytes(), hasUnnamed: this.#hasUnnamed }
    return { recipientPackets, named, recipients }
  }
}

/** Key ids one after the other, in memory that grows with them. */
class KeyIdList {
  #bytes = new Uint8Array(0)
  #length = 0

  /** Makes room for so many more. */
  reserve(keyIds: number): void {
    const length = this.#length + Math.ceil(keyIds) * KEY_ID_BYTES
    if (length <= this.#bytes.length) return
    const grown = new Uint8Array(length)
    grown.set(this.bytes())
    this.#bytes = grown
  }

  /** Adds the 8 bytes at `at`. */
  add(from: Uint8Array, at: number): void {
    if (this.#length === this.#bytes.length) this.reserve(32)
    const bytes = this.#bytes
    const to = this.#length
    // A view for each of a thousand would cost more than the scan of all of them.
    for (let n = 0; n < KEY_ID_BYTES; n++) bytes[to + n] = from[at + n] ?? 0
    this.#length += KEY_ID_BYTES
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
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

const isOurs = (recipient: string, own: OwnIds): boolean =>
  own.keyIds.has(recipient) || own.fingerprints.has(recipient)
