import type { Sandbox } from '../../../src/sandbox/create.ts'
import type { Clock } from '../../../src/util/clock.ts'

/** The sandbox's clock as the sidecar's, for its deliveries; it moves by `advance`. */
export class SandboxClock implements Clock {
  readonly #sandbox: Sandbox
  readonly #waiting = new Map<() => void, number>()

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  now(): number {
    return this.#sandbox.now()
  }

  monotonicNow(): number {
    return this.#sandbox.now()
  }

  /** Moves both forward. */
  async advance(ms: number): Promise<void> {
    await this.#sandbox.advance(ms)
    this.#waiting.forEach((_ms, look) => look())
  }

  /** How many ms somebody who waits now is waiting for, each. */
  get waits(): number[] {
    return [...this.#waiting.values()]
  }

  wait(ms: number, signal: AbortSignal): Promise<void> {
    const untilMs = this.now() + ms
    return new Promise((resolve) => {
      const look = (): void => {
        if (!signal.aborted && this.now() < untilMs) return
        this.#waiting.delete(look)
        signal.removeEventListener('abort', look)
        resolve()
      }
      this.#waiting.set(look, ms)
      signal.addEventListener('abort', look)
      look()
    })
  }
}
