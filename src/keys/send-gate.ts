/**
 * Where sends wait while the key that signs them changes: whoever is inside has sealed with the
 * published key, and its message is at the service before another key is published.
 */
export class SendGate {
  #inside = 0
  #closed = false
  #opened: (() => void)[] = []
  #emptied: (() => void)[] = []

  /** Those inside. */
  get inside(): number {
    return this.#inside
  }

  /**
   * Goes in, once the gate is open.
   * @returns leaves again; to be called when the message has been answered or will not leave
   */
  async enter(): Promise<() => void> {
    while (this.#closed) await new Promise<void>((resolve) => this.#opened.push(resolve))
    this.#inside++
    let left = false
    return () => {
      if (left) return
      left = true
      if (--this.#inside === 0) for (const resolve of this.#emptied.splice(0)) resolve()
    }
  }

  /** Lets nobody in any more. Those inside go on. */
  close(): void {
    this.#closed = true
  }

  /** Lets everybody in who waits. */
  open(): void {
    this.#closed = false
    for (const resolve of this.#opened.splice(0)) resolve()
  }

  /** Resolves when nobody is inside; call it while closed. @throws the signal's reason */
  async empty(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#inside === 0) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', end, { once: true })
    this.#emptied.push(resolve)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
