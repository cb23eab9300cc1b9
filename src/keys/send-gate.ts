import { raceAbort } from '../util/race-abort.ts'

/**
 * Sends wait here while the key that signs them changes. A send that is inside has sealed with the
 * published key; its message reaches the service before another key is published.
 */
export class SendGate {
  /** How many sends are inside. */
  #inside = 0
  #closed = false
  #opened: (() => void)[] = []
  #emptied: (() => void)[] = []

  /**
   * Enters once the gate is open.
   * @returns `leave`: call it when the message was answered or will not be sent
   */
  async enter(): Promise<{ hasWaited: boolean; leave: () => void }> {
    const hasWaited = this.#closed
    while (this.#closed) await new Promise<void>((resolve) => this.#opened.push(resolve))
    this.#inside++
    let left = false
    const leave = (): void => {
      if (left) return
      left = true
      if (--this.#inside === 0) for (const resolve of this.#emptied.splice(0)) resolve()
    }
    return { hasWaited, leave }
  }

  /** Lets no more sends in. Those inside go on. */
  close(): void {
    this.#closed = true
  }

  /** Lets all waiting sends in. */
  open(): void {
    this.#closed = false
    for (const resolve of this.#opened.splice(0)) resolve()
  }

  /** Resolves when no send is inside; call it while closed. @throws the signal's reason */
  async empty(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#inside === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#emptied.push(resolve)
    await raceAbort(promise, signal)
  }
}
