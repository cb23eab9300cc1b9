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

/** One check of the disk at a time: another beside one that hangs would hang too. */
export class DiskCheck {
  readonly #withinMs: number
  #underWay: Promise<void> | null = null

  /** @param withinMs after which a disk that does not answer counts as one that hangs */
  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  /** @returns false when this check did not end in time, or the one before it has not ended yet */
  async run(check: () => Promise<void>): Promise<boolean> {
    if (this.#underWay !== null) return false
    const run = async (): Promise<void> => {
      await check()
      this.#underWay = null
    }
    this.#underWay = run()
    const { promise: late, resolve } = Promise.withResolvers<false>()
    const timer = setTimeout(() => resolve(false), this.#withinMs)
    const isEnded = await Promise.race([this.#underWay.then(() => true), late])
    clearTimeout(timer)
    return isEnded
  }
}
