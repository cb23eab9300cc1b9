/** Chance that follows from a seed alone, so that a run can be repeated. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, 1) (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both possible. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /** True one time in so many. */
  oneIn(count: number): boolean {
    return this.next() * count < 1
  }

  /** @throws Error for an empty list */
  pick<T>(list: readonly T[]): T {
    const found = list[Math.floor(this.next() * list.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }

  /** The same things in another order. */
  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list]
    const order: T[] = []
    while (left.length > 0) order.push(...left.splice(Math.floor(this.next() * left.length), 1))
    return order
  }

  /** So many hexadecimal characters. */
  hex(length: number): string {
    return Array.from({ length }, () => Math.floor(this.next() * 16).toString(16)).join('')
  }

  uuid(): string {
    const h = this.hex(30)
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(12, 15)}-a${h.slice(15, 18)}-${h.slice(18)}`
  }

  /** A generator of its own, so that one part's use of chance does not move another's. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }
}
