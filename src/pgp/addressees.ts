/** To whom a message is sealed: its recipient packets, of which only ours are kept. */
import type { NotOpened } from './engine.ts'
import { TAG, framePacket } from './packets.ts'
import { BOUNDS } from './bounds.ts'
import { hexOf } from './octets.ts'

/** Whose message it may be: ids and fingerprints of our keys and subkeys, lower-case hex. */
export interface OwnIds {
  keyIds: ReadonlySet<string>
  fingerprints: ReadonlySet<string>
  /** How many own keys an anonymous packet would be tried with. */
  keyCount: number
}

/** The recipient packets that are worth trying, each framed. */
export interface Addressed {
  recipientPackets: Uint8Array[]
  /** True when they name one of our keys, false when they name nobody. */
  named: boolean
}

const ANONYMOUS_KEY_ID = '0000000000000000'
/** A recipient packet in the new format, whose length of one octet is below `LONG`. */
const PLAIN_HEADER = 0xc0 | TAG.pkesk
const LONG = 192
/** Version, key id and algorithm. */
const PKESK_LEAST = 10

/** By first octet of a key id, 1 where it may be one of ours, or nobody's. */
type FirstOctets = Uint8Array
const firstOctets = new WeakMap<ReadonlySet<string>, FirstOctets>()

function firstOctetsOf(keyIds: ReadonlySet<string>): FirstOctets {
  const known = firstOctets.get(keyIds)
  if (known !== undefined) return known
  const first = new Uint8Array(256)
  for (const keyId of [ANONYMOUS_KEY_ID, ...keyIds])
    first[Number.parseInt(keyId.slice(0, 2), 16)] = 1
  firstOctets.set(keyIds, first)
  return first
}

/** Collects recipient packets; what is not for us costs a comparison and nothing else. */
export class Addressees {
  readonly #own: OwnIds
  readonly #firstOctets: FirstOctets
  readonly #named: Uint8Array[] = []
  readonly #anonymous: Uint8Array[] = []
  #anonymousSeen = 0
  #count = 0

  constructor(own: OwnIds) {
    this.#own = own
    this.#firstOctets = firstOctetsOf(own.keyIds)
  }

  /** How many recipient packets there were, for whomever. */
  get count(): number {
    return this.#count
  }

  get areTooMany(): boolean {
    return this.#count > BOUNDS.recipientPackets
  }

  /**
   * Passes over recipient packets of version 3 that name others, as programs write them, from `at`
   * on: in a large group they are nearly all that there is. @returns where another packet begins
   */
  pass(octets: Uint8Array, at: number): number {
    const first = this.#firstOctets
    const most = BOUNDS.recipientPackets + 1 - this.#count
    let next = at
    let passed = 0
    for (; passed < most && octets[next] === PLAIN_HEADER; passed++) {
      const length = octets[next + 1] ?? 0
      const isPlain = length >= PKESK_LEAST && length < LONG && octets[next + 2] === 3
      const end = next + 2 + length
      if (!isPlain || end > octets.length) break
      if (first[octets[next + 3] ?? 0] === 1 && this.#mayConcern(octets, next + 3)) break
      next = end
    }
    this.#count += passed
    return next
  }

  /** Whether a key id is one of ours, or nobody's. */
  #mayConcern(octets: Uint8Array, at: number): boolean {
    const keyId = hexOf(octets.subarray(at, at + 8))
    return keyId === ANONYMOUS_KEY_ID || this.#own.keyIds.has(keyId)
  }

  /** Takes the body of one recipient packet; of a kind that is for a passphrase, only the count. */
  take(tag: number, body: Uint8Array): void {
    this.#count++
    const addressee = tag === TAG.pkesk ? addresseeOf(body) : null
    if (addressee === 'anonymous') {
      this.#anonymousSeen++
      if (this.#anonymous.length < BOUNDS.anonymousPackets) {
        this.#anonymous.push(framePacket(tag, body))
      }
    } else if (addressee !== null && isOurs(addressee, this.#own)) {
      if (this.#named.length < BOUNDS.namedAttempts) this.#named.push(framePacket(tag, body))
    }
  }

  /** What to try, or that none of it can be ours. */
  chosen(): Addressed | NotOpened {
    const { keyCount } = this.#own
    const named = this.#named.length > 0
    const tries = Math.max(1, Math.floor(BOUNDS.anonymousAttempts / Math.max(1, keyCount)))
    const recipientPackets = named ? this.#named : this.#anonymous.slice(0, tries)
    if (recipientPackets.length === 0 || keyCount === 0) return { outcome: 'not-recipient' }
    if (!named && this.#anonymousSeen > BOUNDS.anonymousPackets) {
      return { outcome: 'not-recipient', reason: 'too-many-anonymous' }
    }
    return { recipientPackets, named }
  }
}

/** Whom a PKESK names (RFC 9580, 5.1): a key id (v3), a fingerprint (v6), nobody, or unknown. */
function addresseeOf(body: Uint8Array): string | null {
  if (body[0] === 3 && body.length >= 10) {
    const keyId = hexOf(body.subarray(1, 9))
    return keyId === ANONYMOUS_KEY_ID ? 'anonymous' : keyId
  }
  if (body[0] === 6 && body.length >= 3) {
    const length = body[1] ?? 0
    if (length === 0) return 'anonymous'
    return body.length > 2 + length ? hexOf(body.subarray(3, 2 + length)) : null
  }
  return null
}

function isOurs(addressee: string, own: OwnIds): boolean {
  return own.keyIds.has(addressee) || own.fingerprints.has(addressee)
}
