import { setFlagsFromString } from 'node:v8'

/** How long work goes on before everything else gets its turn, in ms. */
const SLICE_MS = 0.5

const waiting: (() => void)[] = []

/**
 * Resolves when everything else has had its turn. Of all that wait for theirs, one goes on in each
 * turn of the event loop: with any amount of work, a call that arrives in between waits for one
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

/** Gives items one by one; in between, everything else goes on. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<T> {
  const slice = new TimeSlice()
  for (const item of items) {
    await slice.yieldIfOver()
    yield item
  }
}

/**
 * Defers work that nobody waits for to the end of this turn of the event loop, and does all of it
 * at once. Line by line between two calls, a log or a count costs several times as much.
 * @param handle called with each item, in order; must not throw
 * @returns adds an item
 */
export function batchPerTick<T>(handle: (item: T) => void): (item: T) => void {
  let batch: T[] = []
  const flush = (): void => {
    const items = batch
    batch = []
    for (const item of items) handle(item)
  }
  return (item) => {
    if (batch.push(item) === 1) setImmediate(flush)
  }
}

/** A function that does the work at its first call alone, and gives its result at every one. */
export function onlyOnce<T>(work: () => T): () => T {
  let done: { result: T } | null = null
  return () => (done ??= { result: work() }).result
}

/** Runs tasks one after the other, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Runs a task when every earlier one has ended, however it ended.
   * @returns the task's result; do not wait for it inside another task: neither would end
   * @throws the task's error; later tasks run all the same
   */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/** How long after the last work the engine saves memory again. */
const REST_MS = 30_000
const SAVER = '--memory-saver-mode'

let timer: NodeJS.Timeout | undefined

/**
 * There is work: V8 stops saving memory, which costs a quarter of the processor time of a call, until
 * there is none for a while. Only in a process that was started to save it.
 */
export function noteCalls(): void {
  if (timer !== undefined) return void timer.refresh()
  if (!process.execArgv.includes(SAVER)) return
  setFlagsFromString(SAVER.replace('--', '--no-'))
  timer = setTimeout(() => {
    timer = undefined
    setFlagsFromString(SAVER)
  }, REST_MS).unref()
}
