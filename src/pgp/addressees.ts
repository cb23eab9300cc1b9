/** To whom a message is sealed: its recipient packets, of which only ours are kept. */
import type { NotOpened } from './engine.ts'
import { TAG, framePacket } from './packets.ts'
import { BOUNDS } from './bounds.ts'

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

const halves = new WeakMap<ReadonlySet<string>, readonly number[]>()

function halvesOf(keyIds: ReadonlySet<string>): number[] {
  return [...keyIds].flatMap((keyId) => [
    Number.parseInt(keyId.slice(0, 8), 16),
    Number.parseInt(keyId.slice(8), 16),
  ])
}

/** Collects recipient packets; what is not for us costs a comparison and nothing else. */
export class Addressees {
  readonly #own: OwnIds
  /** Our key ids in halves, one after the other. */
  readonly #halves: readonly number[]
  readonly #named: Uint8Array[] = []
  readonly #anonymous: Uint8Array[] = []
  #anonymousSeen = 0
  #count = 0

  constructor(own: OwnIds) {
    this.#own = own
    this.#halves = halves.get(own.keyIds) ?? halvesOf(own.keyIds)
    halves.set(own.keyIds, this.#halves)
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
    let next = at
    while (octets[next] === PLAIN_HEADER && !this.areTooMany) {
      const length = octets[next + 1] ?? 0
      const end = next + 2 + length
      const isPlain = length >= PKESK_LEAST && length < LONG && octets[next + 2] === 3
      if (!isPlain || end > octets.length || this.#mayConcern(octets, next + 3)) break
      this.#count++
      next = end
    }
    return next
  }

  /** Whether a key id is one of ours, or nobody's. */
  #mayConcern(octets: Uint8Array, at: number): boolean {
    const high = word(octets, at)
    const low = word(octets, at + 4)
    if (high === 0 && low === 0) return true
    for (let index = 0; index < this.#halves.length; index += 2) {
      if (this.#halves[index] === high && this.#halves[index + 1] === low) return true
    }
    return false
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
    const keyId = hex(body.subarray(1, 9))
    return keyId === ANONYMOUS_KEY_ID ? 'anonymous' : keyId
  }
  if (body[0] === 6 && body.length >= 3) {
    const length = body[1] ?? 0
    if (length === 0) return 'anonymous'
    return body.length > 2 + length ? hex(body.subarray(3, 2 + length)) : null
  }
  return null
}

function isOurs(addressee: string, own: OwnIds): boolean {
  return own.keyIds.has(addressee) || own.fingerprints.has(addressee)
}

function word(octets: Uint8Array, at: number): number {
  const high = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0)
  const low = ((octets[at + 2] ?? 0) << 8) | (octets[at + 3] ?? 0)
  return high * 0x10000 + low
}

const hex = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('hex')
