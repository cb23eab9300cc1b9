import { busyRefusal, type Refusal } from '../errors.ts'
import { givenUp } from './errors.ts'

interface Waiter {
  untilMs: number
  begin: () => void
  refuse: (error: Error) => void
}

/**
 * Holds the sidecar's own calls to a number in any window, so that they never starve the bot's.
 * First in, first out. Times are of the monotonic clock.
 */
export class Budget {
  readonly #limit: () => number
  readonly #windowMs: number
  /** When the calls of the last window began, oldest first. */
  #begun: number[] = []
  #waiting: Waiter[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param limit asked afresh each time; anything below 1 counts as 1 */
  constructor(limit: () => number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  get limit(): number {
    const limit = Math.floor(this.#limit())
    return limit >= 1 ? limit : 1
  }

  /** Calls begun within the last window. */
  get used(): number {
    this.#forget()
    return this.#begun.length
  }

  /**
   * Resolves when a call may begin, and counts it.
   * @param untilMs by when it must begin, of `performance.now()`
   * @throws Refusal `postern_busy` with `retryAfter` at once, when its turn would be later;
   *   NoResponseError when the signal ends the wait
   */
  async take(untilMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw givenUp().error
    if (this.#waiting.length === 0 && this.used < this.limit) return this.count()
    const turn = this.#turnOf(this.#waiting.length)
    if (turn > untilMs) throw busy(turn)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { untilMs, begin: resolve, refuse: reject }
    const leave = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter)
      reject(givenUp().error)
      this.#arm()
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.push(waiter)
    this.#arm()
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  /** Counts a call that is not made to wait, such as a repeated attempt. */
  count(): void {
    this.#begun.push(performance.now())
  }

  #advance(): void {
    const now = performance.now()
    this.#waiting = this.#waiting.filter((waiter, place) => {
      if (waiter.untilMs > now) return true
      waiter.refuse(busy(this.#turnOf(place)))
      return false
    })
    while (this.used < this.limit) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.count()
      next.begin()
    }
    this.#arm()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#waiting.length === 0) return
    const wakeMs = Math.min(this.#turnOf(0), ...this.#waiting.map(({ untilMs }) => untilMs))
    this.#timer = setTimeout(() => this.#advance(), Math.max(1, wakeMs - performance.now()))
  }

  /** When the one at a place in the queue may begin, if nobody before it leaves. */
  #turnOf(place: number): number {
    this.#forget()
    const now = performance.now()
    const begins = [...this.#begun]
    for (let n = 0; n <= place; n++) {
      const blocking = begins[begins.length - this.limit]
      begins.push(blocking === undefined ? now : Math.max(now, blocking + this.#windowMs))
    }
    return begins.at(-1) ?? now
  }

  #forget(): void {
    const oldest = performance.now() - this.#windowMs
    this.#begun = this.#begun.filter((begun) => begun > oldest)
  }
}

function busy(turn: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil((turn - performance.now()) / 1000))
  return busyRefusal('the sidecar’s own calls are used up', retryAfter)
}
