/** The next message of each place, made ahead but for its words. */
import { destroyEnvelope, type Envelope } from './prepared-message.ts'
import { Envelopes, type EnvelopeBounds } from './prepared-messages.ts'
import type { Packer, Wanted } from './recipient-packets.ts'

export interface AheadParts {
  packer: Packer
  bounds: EnvelopeBounds
  /** Called when the next message of a place is ready but for its words. */
  prepared: (place: string) => void
}

/** Places that wait for an envelope. */
const WANTED_MAX = 64

export class Ahead {
  readonly #parts: AheadParts
  readonly #envelopes: Envelopes
  readonly #wanted = new Map<string, Wanted>()
  #isMaking = false
  #isClosed = false

  constructor(parts: AheadParts) {
    this.#parts = parts
    this.#envelopes = new Envelopes(parts.bounds)
  }

  /**
   * Takes what was made for exactly this; what was made at the place for anything else ends.
   * @returns null when there is none
   */
  take(place: string, wanted: Wanted): Envelope | null {
    return this.#envelopes.take(place, nameOf(wanted))
  }

  /** Has the next one for a place made, when nobody waits for anything. */
  want(place: string, wanted: Wanted): void {
    void this.#parts.packer.restock()
    this.#wanted.delete(place)
    if (this.#isClosed || this.#envelopes.has(place, nameOf(wanted))) return
    this.#wanted.set(place, wanted)
    for (const oldest of this.#wanted.keys()) {
      if (this.#wanted.size <= WANTED_MAX) break
      this.#wanted.delete(oldest)
    }
    if (!this.#isMaking) void this.#makeAll()
  }

  /** Destroys all that was made, and makes nothing that was wanted. */
  clear(): void {
    this.#wanted.clear()
    this.#envelopes.clear()
  }

  /** The same, for good. */
  close(): void {
    this.#isClosed = true
    this.clear()
  }

  async #makeAll(): Promise<void> {
    this.#isMaking = true
    for (let [next] = this.#wanted; next !== undefined; [next] = this.#wanted) {
      const [place, wanted] = next
      await this.#make(place, wanted)
      if (this.#wanted.get(place) === wanted) this.#wanted.delete(place)
    }
    this.#isMaking = false
  }

  /** One that fails is made when it is needed, where somebody is told. */
  async #make(place: string, wanted: Wanted): Promise<void> {
    const envelope = await this.#parts.packer.packAhead(wanted).catch(() => null)
    if (envelope === null) return
    if (this.#wanted.get(place) !== wanted) return destroyEnvelope(envelope)
    this.#envelopes.put(place, nameOf(wanted), envelope)
    this.#parts.prepared(place)
  }
}

function nameOf({ roster, cipher }: Wanted): string {
  return `${roster.name} ${cipher}`
}
