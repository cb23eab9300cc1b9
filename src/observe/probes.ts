/** The checks of the service's watch. */
export interface Probes {
  /** Calls `GET /me` within seconds and reads its answer; rejects without a usable one. */
  askService: () => Promise<unknown>
  /** Writes to the store; rejects when it still cannot be written. */
  tryStore: () => Promise<unknown>
  /** Asks the store's database, where it is in one; `storeIs` receives the result. */
  reachStore: () => Promise<unknown>
  /** Reads the token from its source again; true when it changed. */
  reloadToken: () => Promise<boolean>
  /** Checks dates at which something ends. */
  lookAtClock: () => void
  /** Checks the disk and the memory. */
  lookLocally: () => Promise<unknown>
  /** How long until something ends whose date is known, in ms; Infinity when nothing does. */
  untilNextEndMs: () => number
}

/**
 * One check of the disk at a time: another beside one that hangs would hang too.
 * @param withinMs after which a disk that does not answer counts as one that hangs
 * @returns gives false when a check did not end in time, or the one before it has not ended yet
 */
export function diskCheck(withinMs: number) {
  let isUnderWay = false
  return async (check: () => Promise<void>): Promise<boolean> => {
    if (isUnderWay) return false
    isUnderWay = true
    const ended = check().then(() => {
      isUnderWay = false
      return true
    })
    const { promise: late, resolve } = Promise.withResolvers<false>()
    const timer = setTimeout(() => resolve(false), withinMs)
    const isEnded = await Promise.race([ended, late])
    clearTimeout(timer)
    return isEnded
  }
}
