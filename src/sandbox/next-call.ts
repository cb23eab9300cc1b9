/**
 * Resolves at the next call of a listener, or when the signal is aborted.
 * @param subscribe adds the listener, and gives what removes it
 */
export function nextCall(
  subscribe: (listener: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      unsubscribe()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const unsubscribe = subscribe(done)
    signal.addEventListener('abort', done)
  })
}
