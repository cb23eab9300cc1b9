/** Threads that can be killed at a deadline; each runs one job at a time, and ends when idle. */
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, parentPort } from 'node:worker_threads'
import { EngineUnavailableError, isOutOfMemory } from '../errors.ts'

/** Kinds of threads, by their files. */
type ThreadKind = 'library/worker' | 'native/worker'

/** The thread was killed because the job overran its deadline, or died of the job. */
export class JobKilled extends Error {}

/** The callbacks of a pool. */
export interface PoolEvents {
  /** A thread had to be killed or died of a job, by its name. */
  onKilled?: ((name: string) => void) | undefined
  /** False when no thread could be started, true when one has started again. */
  onAvailable?: ((isAvailable: boolean) => void) | undefined
}

interface Job {
  name: string
  args: unknown[]
  deadlineMs: number
  signal: AbortSignal | undefined
  resolve(value: unknown): void
  reject(error: Error): void
}

interface Thread {
  worker: Worker
  /** It has loaded its modules; no job of its own runs before. */
  ready: boolean
  job: Job | null
  timer: NodeJS.Timeout | undefined
}

/** The load of the threads of one kind. */
export interface ThreadLoad {
  /** At work on a job. */
  busy: number
  /** Jobs that wait for a thread. */
  waiting: number
}

type ThreadReply = 'ready' | { ok: true; value: unknown } | { ok: false; message: string }

/**
 * A thread's own heap, which holds little: large data is in memory outside of it. The limit is
 * several times the need of sealing to a thousand people; a job that exceeds it ends its thread.
 */
const HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }
/** Loading the library on a machine that is busy with everything else. */
const START_MS = 30_000
/** After a thread could not be started, another one is tried without being asked for. */
const START_AGAIN_MS = 1000
/**
 * How long a thread may be idle before it ends. One that has unlocked a key with the library keeps
 * some 120 MiB, and the secret, until then; native ones keep little, and the ephemerals that makes them fast.
 */
const IDLE_MS = 30_000
/** Far longer than any step of a job, even on a busy machine. */
const DEADLINE_MS = 20_000

/** @template J the jobs that its threads do, by name */
export class Pool<
  J extends Record<keyof J, (...args: never[]) => unknown>,
> implements AsyncDisposable {
  readonly #file: URL
  readonly #threads = new Set<Thread>()
  readonly #queue: Job[] = []
  readonly #events: PoolEvents
  readonly #workerData: unknown
  /** Greatest number of threads. */
  readonly size: number
  #isAvailable = true
  #closed = false

  /**
   * @param kind of thread, by its file
   * @param size of threads at most; they are started when first needed
   * @param workerData what each of them is given when it starts
   */
  constructor(kind: ThreadKind, size: number, events: PoolEvents = {}, workerData?: unknown) {
    this.#file = new URL(import.meta.url.replace(/pool(\.[jt]s)$/, `${kind}$1`))
    this.size = size
    this.#events = events
    this.#workerData = workerData
  }

  /**
   * Runs a job. The deadline counts from the job's start in a thread that is ready, so that a slow
   * machine makes no key or signature bad. `signal` drops a job that has not started.
   * @throws JobKilled past the deadline, EngineUnavailableError when no thread did it for want of
   *   threads or memory; Error with the job's own message when it failed
   */
  run<N extends keyof J & string>(
    name: N,
    args: Parameters<J[N]>,
    deadlineMs = DEADLINE_MS,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<J[N]>>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new JobKilled('dropped'))
      if (this.#closed) return reject(closed())
      const done = resolve as (value: unknown) => void
      this.#queue.push({ name, args, deadlineMs, signal, resolve: done, reject })
      this.#next()
    })
  }

  get load(): ThreadLoad {
    const busy = [...this.#threads].filter(({ job }) => job !== null).length
    return { busy, waiting: this.#queue.length }
  }

  #next(): void {
    while (this.#queue.length > 0) {
      const next = this.#queue[0]
      if (next?.signal?.aborted === true) {
        this.#queue.shift()
        next.reject(new JobKilled('dropped'))
        continue
      }
      const thread = this.#idle()
      if (thread === null) return this.#refuseUnlessBusy()
      const job = this.#queue.shift()
      if (job !== undefined) this.#take(thread, job)
    }
  }

  #idle(): Thread | null {
    for (const thread of this.#threads) if (thread.job === null) return thread
    return this.#threads.size < this.size ? this.#start() : null
  }

  /** Rejects all waiting jobs when no thread is left to run them. */
  #refuseUnlessBusy(): void {
    if (this.#threads.size > 0) return
    for (const job of this.#queue.splice(0)) job.reject(notStarted())
  }

  /** @returns null where the system has no room for another thread */
  #start(): Thread | null {
    let worker
    try {
      const workerData = this.#workerData
      const options = { env: compileCache(), execArgv: [], resourceLimits: HEAP, workerData }
      worker = new Worker(this.#file, options)
    } catch {
      if (this.#threads.size === 0) this.#setAvailable(false)
      return null
    }
    const thread: Thread = { worker, ready: false, job: null, timer: undefined }
    worker.on('message', (reply: ThreadReply) => {
      // A message that the thread sent before it was killed: only its end counts now.
      if (!this.#threads.has(thread)) return
      if (reply === 'ready') this.#begin(thread)
      else this.#finish(thread, reply)
    })
    worker.on('error', () => this.#kill(thread))
    worker.on('exit', () => this.#kill(thread))
    worker.unref()
    this.#threads.add(thread)
    return thread
  }

  #take(thread: Thread, job: Job): void {
    thread.job = job
    thread.worker.ref()
    this.#arm(thread)
    thread.worker.postMessage({ name: job.name, args: job.args })
  }

  #begin(thread: Thread): void {
    thread.ready = true
    this.#setAvailable(true)
    if (thread.job === null) this.#endWhenIdle(thread)
    else this.#arm(thread)
  }

  #setAvailable(isAvailable: boolean): void {
    if (this.#closed) return
    if (!isAvailable) setTimeout(() => this.#startAgain(), START_AGAIN_MS).unref()
    if (isAvailable === this.#isAvailable) return
    this.#isAvailable = isAvailable
    this.#events.onAvailable?.(isAvailable)
  }

  /** Sees whether a thread can be started by now. */
  #startAgain(): void {
    if (this.#isAvailable || this.#closed || this.#threads.size > 0) return
    const thread = this.#start()
    if (thread !== null) this.#arm(thread)
  }

  #arm(thread: Thread): void {
    clearTimeout(thread.timer)
    const waitMs = thread.ready ? thread.job?.deadlineMs : START_MS
    thread.timer = setTimeout(() => this.#kill(thread), waitMs)
  }

  #finish(thread: Thread, reply: Exclude<ThreadReply, 'ready'>): void {
    const { job } = thread
    clearTimeout(thread.timer)
    thread.job = null
    thread.worker.unref()
    if (reply.ok) job?.resolve(reply.value)
    else job?.reject(failureOf(reply.message))
    // the last of the threads that stay, so that the caches of all are refreshed
    if (this.#threads.delete(thread)) this.#threads.add(thread)
    this.#next()
    this.#endWhenIdle(thread)
  }

  #endWhenIdle(thread: Thread): void {
    if (thread.job !== null) return
    clearTimeout(thread.timer)
    thread.timer = setTimeout(() => this.#kill(thread), IDLE_MS).unref()
  }

  #kill(thread: Thread): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.timer)
    // oxlint-disable-next-line typescript/no-floating-promises -- the pool never uses this thread again
    void thread.worker.terminate()
    // before it is ready, nothing of the job has reached it
    if (!thread.ready && this.#threads.size === 0) this.#setAvailable(false)
    if (this.#closed) thread.job?.reject(closed())
    else if (!thread.ready) thread.job?.reject(notStarted())
    else if (thread.job !== null) {
      this.#events.onKilled?.(thread.job.name)
      thread.job.reject(new JobKilled(thread.job.name))
    }
    this.#next()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const job of this.#queue.splice(0)) job.reject(closed())
    const workers = [...this.#threads].map(({ worker }) => worker)
    for (const thread of this.#threads) this.#kill(thread)
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

const closed = (): Error => new EngineUnavailableError('the engine is closed')
const notStarted = (): Error => new EngineUnavailableError('no thread can be started')

/** The error of a failed job, by its message. */
function failureOf(message: string): Error {
  const error = new Error(message)
  return isOutOfMemory(error)
    ? new EngineUnavailableError('no memory is left', { cause: error })
    : error
}

/** All that a thread sees of the environment: where Node keeps compiled code, if the process has it. */
function compileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = getCompileCacheDir()
  // Node names the folder of its own version below the one that it was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** A thread's side of a pool: does jobs by name, one after the other, until the thread is ended; arguments and results are structured clones. */
export function serve(jobs: Record<string, (...args: never[]) => unknown>): void {
  const reply = (message: ThreadReply): void => parentPort?.postMessage(message)
  parentPort?.on('message', (job: { name: string; args: never[] }) => {
    new Promise((resolve) => resolve(jobs[job.name]?.(...job.args))).then(
      (value) => reply({ ok: true, value }),
      (error: unknown) =>
        reply({ ok: false, message: error instanceof Error ? error.message : '' }),
    )
  })
  // Only now does a job's own time begin.
  reply('ready')
}
