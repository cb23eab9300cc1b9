/** When a command that runs until it is told to stop should do so. main.ts turns signals into it. */
const controller = new AbortController()
let awaited = false

/** Aborted by the first SIGTERM or SIGINT. */
export const shutdownSignal: AbortSignal = controller.signal

/**
 * Resolves once a stop was asked for. To be called before anything is started: from then on the
 * first signal asks, and only a second one ends the process at once.
 */
export function shutdownRequested(): Promise<void> {
  awaited = true
  if (shutdownSignal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    shutdownSignal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Whether the command that runs would heed a request to stop. For main.ts. */
export function handlesShutdown(): boolean {
  return awaited
}

/** Asks whatever runs to stop. For main.ts. */
export function requestShutdown(): void {
  controller.abort()
}
