/** Waiting for work no longer than somebody wants its result. */

/**
 * Gives the result of the work, unless the signal aborts first. It is for work without a signal
 * of its own: the work then continues, and its result or error is dropped.
 * @param signal undefined: waits for the work alone
 * @throws the signal's reason when it aborts first, also when it was aborted before; otherwise
 *   the error of the work
 */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([promise, work])
  } finally {
    // A listener that stays would keep everything it refers to as long as the signal lives.
    signal.removeEventListener('abort', onAbort)
  }
}

/**
 * A signal that aborts when a time has passed, unless the work is done and disposes it before.
 * @param wait begins at once; resolves when the time has passed, or soon after its signal aborted;
 *   never rejects
 */
export function deadline(
  wait: (signal: AbortSignal) => Promise<void>,
): { signal: AbortSignal } & Disposable {
  const passed = new AbortController()
  const disposed = new AbortController()
  async function abortAfter(): Promise<void> {
    await wait(disposed.signal)
    if (!disposed.signal.aborted) passed.abort()
  }
  // oxlint-disable-next-line typescript/no-floating-promises -- `wait` never rejects
  void abortAfter()
  return { signal: passed.signal, [Symbol.dispose]: () => disposed.abort() }
}
