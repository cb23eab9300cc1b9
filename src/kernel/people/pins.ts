import type { Memory, Pin } from '../memory.ts'
import { Listeners } from '../../util/listeners.ts'

/** A person of whom nothing is known. */
export const blankPin = (userId: number): Pin => ({
  userId,
  fingerprint: null,
  sinceMs: 0,
  standing: 'seen',
  listed: null,
  listedAtMs: null,
})

/** Every pin, in memory and in the store. */
export class Pins {
  readonly #pins = new Map<number, Pin>()
  readonly #rereadings = new Listeners()
  /** Who is listed with a certificate: one person, but for disputed ones. */
  readonly #listedBy = new Map<string, number | Set<number>>()

  static async load(memory: Memory): Promise<Pins> {
    const pins = new Pins()
    memory.follow('pins', async (records, keys) => {
      for (const pin of await records.pins.of(keys.map(Number))) pins.set(pin)
      pins.#rereadings.emit()
    })
    for (const pin of await memory.read((records) => records.pins.all())) pins.set(pin)
    return pins
  }

  /** Calls back when pins were read again that another sidecar has changed. */
  onReread(listener: () => void): void {
    this.#rereadings.add(listener)
  }

  get(userId: number): Pin | undefined {
    return this.#pins.get(userId)
  }

  get size(): number {
    return this.#pins.size
  }

  /** Every pin, by person. */
  get all(): Pin[] {
    return [...this.#pins.values()].sort((a, b) => a.userId - b.userId)
  }

  /** How many people are listed with a certificate now. */
  claimsOn(fingerprint: string): number {
    const listedBy = this.#listedBy.get(fingerprint)
    if (listedBy === undefined) return 0
    return typeof listedBy === 'number' ? 1 : listedBy.size
  }

  /** Who is listed with a certificate now, by id. */
  claimantsOf(fingerprint: string): number[] {
    const listedBy = this.#listedBy.get(fingerprint) ?? []
    return typeof listedBy === 'number' ? [listedBy] : [...listedBy].sort((a, b) => a - b)
  }

  /** Remembers what was written. */
  set(pin: Pin): void {
    const before = this.#pins.get(pin.userId)?.listed ?? null
    // one string for both, of which there are two hundred thousand
    const isSame = pin.listed !== null && pin.listed === pin.fingerprint
    this.#pins.set(pin.userId, isSame ? { ...pin, listed: pin.fingerprint } : pin)
    if (before === pin.listed) return
    if (before !== null) this.#unclaim(before, pin.userId)
    if (pin.listed !== null) this.#claim(isSame ? pin.fingerprint! : pin.listed, pin.userId)
  }

  #claim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (listedBy === undefined) this.#listedBy.set(fingerprint, userId)
    else if (typeof listedBy !== 'number') listedBy.add(userId)
    else this.#listedBy.set(fingerprint, new Set([listedBy, userId]))
  }

  #unclaim(fingerprint: string, userId: number): void {
    const listedBy = this.#listedBy.get(fingerprint)
    if (typeof listedBy === 'object') listedBy.delete(userId)
    if (listedBy === userId || this.claimsOn(fingerprint) === 0) this.#listedBy.delete(fingerprint)
  }
}
