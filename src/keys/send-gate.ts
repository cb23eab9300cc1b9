import { Listeners, nextCall } from '../util/listeners.ts'
import { onlyOnce } from '../util/scheduling.ts'

/**
 * Sends wait here while the key that signs them changes. A send that is inside has sealed with the
 * published key; its message reaches the service before another key is published.
 */
export class SendGate {
  /** How many sends are inside. */
  #inside = 0
  /** Waiting sends go on when it resolves; null while the gate is open. */
  #closed: PromiseWithResolvers<void> | null = null
  readonly #emptied = new Listeners()

  /**
   * Enters once the gate is open.
   * @returns `leave`: call it when the message was answered or will not be sent
   */
  async enter(): Promise<{ hasWaited: boolean; leave: () => void }> {
    const hasWaited = this.#closed !== null
    while (this.#closed !== null) await this.#closed.promise
    this.#inside++
    const leave = onlyOnce(() => {
      if (--this.#inside === 0) this.#emptied.emit()
    })
    return { hasWaited, leave }
  }

  /** Lets no more sends in. Those inside go on. */
  close(): void {
    this.#closed ??= Promise.withResolvers()
  }

  /** Lets all waiting sends in. */
  open(): void {
    this.#closed?.resolve()
    this.#closed = null
  }

  /** Resolves when no send is inside; call it while closed. @throws the signal's reason */
  async empty(signal: AbortSignal): Promise<void> {
    if (this.#inside > 0) await nextCall(this.#emptied.add, signal)
    signal.throwIfAborted()
  }
}
