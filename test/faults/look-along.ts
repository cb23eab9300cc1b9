import { setTimeout as pause } from 'node:timers/promises'

const BETWEEN_MS = 500

/** Looks again and again, until `enough` is aborted. */
export async function lookAlong(look: () => Promise<void>, enough: AbortSignal): Promise<void> {
  while (!enough.aborted) {
    await look()
    await pause(BETWEEN_MS, undefined, { signal: enough }).catch(() => {})
  }
}
