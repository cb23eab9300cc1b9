/** Sealing natively: envelopes in stock where a list is used again, and made at once where not. */
import type { Cipher, SealRequest } from '../engine.ts'
import type { Sealed } from '../sealed.ts'
import { destroyEnvelope, sealInto, type Envelope } from './envelope.ts'
import { Envelopes, type EnvelopeBounds } from './envelopes.ts'
import type { Gate } from './gate.ts'
import type { OwnKeys } from './own-keys.ts'
import { packEnvelope, type Making } from './packer.ts'
import { Precedence } from './precedence.ts'
import { Rosters, type Roster } from './roster.ts'
import type { SessionKey } from './session-key.ts'
import { Stock } from './stock.ts'
import { Turns } from './turns.ts'
import { freshPair } from './x25519.ts'

/** What the library does for sealing. */
export interface SealingLibrary {
  /** Recipient packets for certificates that are not of the common forms. */
  packetsFor(certificates: string[], sessionKey: SessionKey): Promise<Uint8Array>
  /** Whether all of them list AES-256. */
  readAes256(certificates: string[]): Promise<boolean>
}

export interface SealerParts {
  gate: Gate
  own: OwnKeys
  library: SealingLibrary
  /** Of what is made ahead. */
  bounds: EnvelopeBounds
  /** Called when the next message of a place is ready but for its words. */
  prepared: (place: string) => void
}

/** Recipients of one message that are worked on side by side while somebody waits. */
const AT_ONCE = 32
/** The same for what is made ahead: the loop and the pool have room for everything else. */
const AHEAD_AT_ONCE = 4
/** Messages to many that are worked on side by side; those to few never wait. */
const MESSAGES = 4
const FEW = 16
/** Places that wait for an envelope. */
const WANTED_MAX = 64

interface Wanted {
  roster: Roster
  cipher: Cipher
}

export class Sealer implements Disposable {
  readonly #parts: SealerParts
  readonly #rosters: Rosters
  readonly #envelopes: Envelopes
  readonly #precedence = new Precedence()
  readonly #stock = new Stock(this.#precedence)
  readonly #messages = new Turns(MESSAGES)
  readonly #wanted = new Map<string, Wanted>()
  #isAhead = false
  #isClosed = false
  /** What envelopes in stock were made under: our key, and what the gate knows. */
  #made = ''

  constructor(parts: SealerParts) {
    this.#parts = parts
    this.#rosters = new Rosters(parts.gate)
    this.#envelopes = new Envelopes(parts.bounds)
  }

  /**
   * Seals a message.
   * @returns null, before anything was done, when our own key is the library's to use
   * @throws Error when any certificate cannot be used
   */
  async seal({ text, certificates, signer, cipher, place }: SealRequest): Promise<Sealed | null> {
    const seals = (await this.#parts.own.of(signer))?.seals
    if (!seals || this.#isClosed) return null
    const roster = await this.#rosters.of(certificates, seals)
    this.#dropOutdated(signer.fingerprint)
    const wanted = { roster, cipher: await this.#cipherFor(roster, cipher) }
    const envelope = this.#take(place, wanted) ?? (await this.#packNow(wanted))
    const sealed = sealInto(envelope, { text, signer: seals.signer, atMs: Date.now() })
    if (place !== undefined) this.#prepare(place, wanted)
    return sealed
  }

  /** Forgets every secret, and makes nothing more. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#wanted.clear()
    this.#envelopes.clear()
    this.#stock.close()
  }

  async #cipherFor({ readAes256, others }: Roster, wanted: Cipher): Promise<Cipher> {
    if (wanted === 'aes128' || !readAes256) return 'aes128'
    if (others.length === 0) return wanted
    return (await this.#parts.library.readAes256(others)) ? wanted : 'aes128'
  }

  /** Another key of ours, or another word on any certificate, ends all that was made before. */
  #dropOutdated(fingerprint: string): void {
    const made = `${fingerprint} ${this.#parts.gate.epoch}`
    if (made === this.#made) return
    this.#made = made
    this.#wanted.clear()
    this.#envelopes.clear()
  }

  #take(place: string | undefined, wanted: Wanted): Envelope | null {
    return place === undefined ? null : this.#envelopes.take(place, nameOf(wanted))
  }

  async #packNow(wanted: Wanted): Promise<Envelope> {
    const making = { atOnce: AT_ONCE, pair: () => this.#stock.take() }
    const work = (): Promise<Envelope> => this.#precedence.first(() => this.#pack(wanted, making))
    return wanted.roster.natives.length <= FEW ? await work() : await this.#messages.run(work)
  }

  async #pack({ roster, cipher }: Wanted, making: Omit<Making, 'packetsFor'>): Promise<Envelope> {
    const { library } = this.#parts
    return await packEnvelope(roster, cipher, {
      ...making,
      packetsFor: (others, sessionKey) => library.packetsFor(others, sessionKey),
    })
  }

  /** Has the next envelope for a place made, when everything else is done. */
  #prepare(place: string, wanted: Wanted): void {
    this.#stock.refill()
    this.#wanted.delete(place)
    if (this.#envelopes.has(place, nameOf(wanted))) return
    this.#wanted.set(place, wanted)
    for (const oldest of this.#wanted.keys()) {
      if (this.#wanted.size <= WANTED_MAX) break
      this.#wanted.delete(oldest)
    }
    if (!this.#isAhead) void this.#prepareAll()
  }

  async #prepareAll(): Promise<void> {
    this.#isAhead = true
    for (let [next] = this.#wanted; next !== undefined; [next] = this.#wanted) {
      const [place, wanted] = next
      await this.#prepareOne(place, wanted)
      if (this.#wanted.get(place) === wanted) this.#wanted.delete(place)
    }
    this.#isAhead = false
  }

  /** One that fails is made when it is needed, where somebody is told. */
  async #prepareOne(place: string, wanted: Wanted): Promise<void> {
    const made = this.#made
    const pair = async (): ReturnType<typeof freshPair> => {
      await this.#precedence.free()
      return await freshPair()
    }
    const envelope = await this.#pack(wanted, { atOnce: AHEAD_AT_ONCE, pair }).catch(() => null)
    if (envelope === null) return
    const isWanted = this.#wanted.get(place) === wanted && this.#made === made
    if (!isWanted || this.#isClosed) return destroyEnvelope(envelope)
    this.#envelopes.put(place, nameOf(wanted), envelope)
    this.#parts.prepared(place)
  }
}

function nameOf({ roster, cipher }: Wanted): string {
  return `${roster.name} ${cipher}`
}
