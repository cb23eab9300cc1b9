/** How long work goes on before everything else gets its turn, in ms. */
const SLICE_MS = 0.5

const waiting: (() => void)[] = []

/**
 * Resolves when everything else has had its turn. Of all that wait for theirs, one goes on in each
 * turn of the event loop: however much there is to do, a call that comes in between waits for one
 * slice of it.
 */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(next)
  })
}

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}

/** For long work in small pieces: asked between two of them, it lets everything else go on. */
export class TimeSlice {
  #sinceMs = performance.now()

  /** Resolves at once while the work is young, else when it is its turn again. */
  async yieldIfOver(): Promise<void> {
    if (performance.now() - this.#sinceMs < SLICE_MS) return
    await nextTurn()
    this.#sinceMs = performance.now()
  }
}
