/** To whom a message is sealed: its recipient packets, of which only ours are kept. */
import type { NotOpened } from './engine.ts'
import { TAG, framePacket } from './packets.ts'
import { BOUNDS } from './profile.ts'

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

/** Collects recipient packets; what is not for us costs a comparison and nothing else. */
export class Addressees {
  readonly #own: OwnIds
  readonly #named: Uint8Array[] = []
  readonly #anonymous: Uint8Array[] = []
  #anonymousSeen = 0
  #count = 0

  constructor(own: OwnIds) {
    this.#own = own
  }

  /** How many recipient packets there were, for whomever. */
  get count(): number {
    return this.#count
  }

  get areTooMany(): boolean {
    return this.#count > BOUNDS.recipientPackets
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

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
