/** Envelopes that wait for their message: in memory alone, few, and not for long. */
import { destroyEnvelope, sizeOf, type Envelope } from './prepared-message.ts'

export interface EnvelopeBounds {
  /** Bytes of all together. */
  maxBytes: number
  /** How long one waits. */
  keepMs: number
}

interface Held {
  name: string
  envelope: Envelope
  size: number
  untilMs: number
}

/**
 * One envelope a place at most. It is given out once, to who names exactly what it was made for;
 * whoever names anything else ends it.
 */
export class Envelopes {
  readonly #bounds: EnvelopeBounds
  /** In the order in which they end. */
  readonly #held = new Map<string, Held>()
  #size = 0
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: EnvelopeBounds) {
    this.#bounds = bounds
  }

  /** Bytes that are taken up. */
  get byteLength(): number {
    return this.#size
  }

  /** Whether one waits at a place for what is named. */
  has(place: string, name: string): boolean {
    const held = this.#held.get(place)
    return held?.name === name && held.untilMs > performance.now()
  }

  /** Takes the envelope out. It is the caller's to use, or to destroy. */
  take(place: string, name: string): Envelope | null {
    const held = this.#held.get(place)
    if (held === undefined) return null
    this.#remove(place, held)
    if (held.name === name && held.untilMs > performance.now()) return held.envelope
    destroyEnvelope(held.envelope)
    return null
  }

  /** Keeps an envelope for what is named, in place of the one that was there. */
  put(place: string, name: string, envelope: Envelope): void {
    this.#drop(place)
    const { maxBytes, keepMs } = this.#bounds
    const size = sizeOf(envelope)
    this.#held.set(place, { name, envelope, size, untilMs: performance.now() + keepMs })
    this.#size += size
    for (const oldest of this.#held.keys()) {
      if (this.#size <= maxBytes) break
      this.#drop(oldest)
    }
    this.#arm()
  }

  /** Destroys all. */
  clear(): void {
    for (const place of this.#held.keys()) this.#drop(place)
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #drop(place: string): void {
    const held = this.#held.get(place)
    if (held === undefined) return
    this.#remove(place, held)
    destroyEnvelope(held.envelope)
  }

  #remove(place: string, { size }: Held): void {
    this.#held.delete(place)
    this.#size -= size
  }

  /** Ends the oldest when its time is over, whether anybody asks or not. */
  #arm(): void {
    if (this.#timer !== undefined) return
    for (const { untilMs } of this.#held.values()) {
      this.#timer = setTimeout(() => this.#expire(), Math.max(1, untilMs - performance.now()))
      this.#timer.unref()
      return
    }
  }

  #expire(): void {
    this.#timer = undefined
    for (const [place, { untilMs }] of this.#held) {
      if (untilMs > performance.now()) break
      this.#drop(place)
    }
    this.#arm()
  }
}
