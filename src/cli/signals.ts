/** The requests to stop a command and to read its settings again. main.ts makes them from signals. */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Listeners } from '../util/listeners.ts'

const controller = new AbortController()
const reloads = new Listeners()

/** What this command has decided, for main.ts. */
export const signalPolicy = {
  /** It decides when it stops, see `handleShutdown`. */
  handlesShutdown: false,
  /** It goes on when the terminal that it was started from is closed (SIGHUP). */
  outlivesTerminal: false,
}

/** Aborted by the first SIGTERM or SIGINT, and by the end of the terminal. */
export const shutdownSignal: AbortSignal = controller.signal

/**
 * Lets this command decide when it stops. Call it before anything is started: from then on the first
 * signal asks for a stop, and only a second one ends the process at once.
 */
export function handleShutdown(): void {
  signalPolicy.handlesShutdown = true
}

/** The same as `handleShutdown`; resolves once a stop was asked for. */
export async function shutdownRequested(): Promise<void> {
  handleShutdown()
  if (!shutdownSignal.aborted) await once(shutdownSignal, 'abort')
}

/** Waits for `ms`, or until a stop was asked for. */
export async function pauseUntilShutdown(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { signal: shutdownSignal }).catch((error: unknown) => {
    if (!shutdownSignal.aborted) throw error
  })
}

/** Asks the command to stop. For main.ts. */
export function requestShutdown(): void {
  controller.abort()
}

/** Calls back on each SIGHUP. A command that does not listen goes on as it is. */
export const onReload = reloads.add

/** Asks the command to read its settings again. For main.ts. */
export function requestReload(): void {
  reloads.emit()
}
