import { RefusedError } from './api.js'

/**
 * Runs a job once at a time; calls meanwhile make one more run.
 * @param {() => Promise<void>} job
 * @returns {() => Promise<void>}
 */
export function coalesced(job) {
  /** @type {Promise<void> | null} */
  let running = null
  let isDue = false
  const run = async () => {
    do {
      isDue = false
      await job().catch((error) => {
        // The stream says when the sandbox is gone; what ended meanwhile is loaded again.
        if (!(error instanceof RefusedError) && !(error instanceof TypeError)) throw error
      })
    } while (isDue)
  }
  return () => {
    if (running !== null) {
      isDue = true
      return running
    }
    running = run().finally(() => (running = null))
    return running
  }
}
