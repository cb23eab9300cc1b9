import { onlyOnce } from './scheduling.ts'

/** How many tasks are under way at once. */
export interface FairQueueBounds {
  /** Of all lanes together. */
  slots: number
  /** Of one lane. */
  perLane: number
  /** Of one lane while others have, or had lately, tasks too; as `perLane` when absent. */
  perLaneAmongOthers?: number
  /** A task that runs longer, in ms, frees its slot while it waits. Never when absent. */
  roomAfterMs?: number
}

/** How long a lane counts after its last task began or ended. */
const LATELY_MS = 1000

/** The tasks of one sharer. */
export interface Lane {
  /** Tasks that have not begun. */
  readonly waiting: number
  /** Tasks under way that have not made room. */
  readonly busy: number
  /**
   * Runs a task when it is its turn.
   * @param task must not throw before it returns, nor wait for another one of the same queue
   * @throws the error of the task
   */
  run<T>(task: () => Promise<T>): Promise<T>
}

interface LaneState {
  tasks: (() => Promise<unknown>)[]
  busy: number
}

/**
 * Slots shared fairly: whenever one is free, the lanes with waiting tasks get it in turns,
 * independent of their numbers of tasks. Within a lane, first in, first out.
 */
export class FairQueue {
  readonly #bounds: FairQueueBounds
  /** Lanes with waiting tasks that may begin; the next one first. */
  readonly #waiting = new Set<LaneState>()
  #busy = 0
  /** The two lanes whose tasks were added or ended last, the last one first. */
  #latest: { lane: LaneState; atMs: number }[] = []

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds
  }

  /** Adds a lane for one sharer. */
  lane(): Lane {
    const lane: LaneState = { tasks: [], busy: 0 }
    return {
      get waiting() {
        return lane.tasks.length
      },
      get busy() {
        return lane.busy
      },
      run: (task) =>
        new Promise((resolve, reject) => {
          lane.tasks.push(async () => {
            await task().then(resolve, reject)
          })
          this.#noteActive(lane)
        }),
    }
  }

  /** After a task of the lane was added or ended: the next one begins if it may. */
  #noteActive(lane: LaneState): void {
    const others = this.#latest.filter((one) => one.lane !== lane)
    this.#latest = [{ lane, atMs: performance.now() }, ...others].slice(0, 2)
    if (!this.#mayBegin(lane)) return
    this.#waiting.add(lane)
    this.#begin()
  }

  #mayBegin(lane: LaneState): boolean {
    return lane.tasks.length > 0 && lane.busy < this.#boundOf(lane)
  }

  #boundOf(lane: LaneState): number {
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
      this.#beginNext(lane)
      if (this.#mayBegin(lane)) this.#waiting.add(lane)
    }
  }

  #beginNext(lane: LaneState): void {
    const { roomAfterMs = Infinity } = this.#bounds
    const task = lane.tasks.shift()
    this.#busy++
    lane.busy++
    const end = onlyOnce(() => {
      lane.busy--
      this.#noteActive(lane)
      this.#busy--
      this.#begin()
    })
    const timer = roomAfterMs === Infinity ? undefined : setTimeout(end, roomAfterMs).unref()
    // oxlint-disable-next-line typescript/no-floating-promises -- `run` gives each failure to its caller
    void Promise.resolve(task?.()).finally(() => {
      clearTimeout(timer)
      end()
    })
  }
}
