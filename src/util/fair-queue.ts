/** How many tasks are under way at once. */
export interface FairQueueBounds {
  /** Of all lanes together. */
  slots: number
  /** Of one lane. */
  perLane: number
  /** Of one lane while others have, or had lately, tasks too; as `perLane` when absent. */
  perLaneAmongOthers?: number
  /** A task that takes longer makes room for the next one: it waits for somebody else. In ms; never when absent. */
  roomAfterMs?: number
}

/** How long a lane counts after its last task began or ended. */
const LATELY_MS = 1000

/**
 * Slots that several share fairly: whenever one is free, the lanes that have waiting tasks get it in
 * turns, however many tasks each has. Within a lane, first come, first served.
 */
export class FairQueue {
  readonly #bounds: FairQueueBounds
  /** Lanes with waiting tasks that may begin; the next one first. */
  readonly #waiting = new Set<Lane>()
  #busy = 0
  /** The two lanes whose tasks came or ended last, the last one first. */
  #latest: { lane: Lane; atMs: number }[] = []

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds
  }

  /** A lane of its own for one of those who share. */
  lane(): Lane {
    return new Lane({
      roomAfterMs: this.#bounds.roomAfterMs ?? Infinity,
      isFull: (lane) => lane.busy >= this.#boundOf(lane),
      onActive: (lane) => this.#note(lane),
      onWaiting: (lane) => {
        this.#waiting.add(lane)
        this.#begin()
      },
      onEnded: () => {
        this.#busy--
        this.#begin()
      },
    })
  }

  #note(lane: Lane): void {
    const others = this.#latest.filter((one) => one.lane !== lane)
    this.#latest = [{ lane, atMs: performance.now() }, ...others].slice(0, 2)
  }

  #boundOf(lane: Lane): number {
    const { perLane, perLaneAmongOthers = perLane } = this.#bounds
    const other = this.#latest.find((one) => one.lane !== lane)
    const isAmongOthers =
      other !== undefined && (other.lane.busy > 0 || performance.now() - other.atMs < LATELY_MS)
    return isAmongOthers ? perLaneAmongOthers : perLane
  }

  #begin(): void {
    while (this.#busy < this.#bounds.slots) {
      const [lane] = this.#waiting
      if (lane === undefined) return
      this.#waiting.delete(lane)
      this.#busy++
      lane.beginNext()
      if (lane.mayBegin) this.#waiting.add(lane)
    }
  }
}

interface LaneParts {
  roomAfterMs: number
  isFull: (lane: Lane) => boolean
  /** A task came, or ended. */
  onActive: (lane: Lane) => void
  /** There is a task that may begin. */
  onWaiting: (lane: Lane) => void
  onEnded: () => void
}

/** The tasks of one of those who share. */
export class Lane {
  readonly #parts: LaneParts
  readonly #tasks: (() => Promise<unknown>)[] = []
  #busy = 0

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  /** Tasks that have not begun. */
  get waiting(): number {
    return this.#tasks.length
  }

  /** Tasks under way that have not made room. */
  get busy(): number {
    return this.#busy
  }

  /**
   * Runs a task when it is its turn.
   * @param task must not throw before it returns, nor wait for another one of the same queue
   * @throws what the task rejects with
   */
  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(async () => {
        await task().then(resolve, reject)
      })
      this.#parts.onActive(this)
      if (this.mayBegin) this.#parts.onWaiting(this)
    })
  }

  /** For the queue: whether the next task may begin, as far as the lane is concerned. */
  get mayBegin(): boolean {
    return this.#tasks.length > 0 && !this.#parts.isFull(this)
  }

  /** For the queue. */
  beginNext(): void {
    const task = this.#tasks.shift()
    this.#busy++
    const { roomAfterMs } = this.#parts
    let isBusy = true
    const end = (): void => {
      if (!isBusy) return
      isBusy = false
      this.#busy--
      this.#parts.onActive(this)
      if (this.mayBegin) this.#parts.onWaiting(this)
      this.#parts.onEnded()
    }
    const timer = roomAfterMs === Infinity ? undefined : setTimeout(end, roomAfterMs).unref()
    void Promise.resolve(task?.()).finally(() => {
      clearTimeout(timer)
      end()
    })
  }
}
