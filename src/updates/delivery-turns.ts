/** Delivers while it is this sidecar's turn, where several have the bot. */
import { once } from 'node:events'
import type { Clock } from '../util/clock.ts'
import type { DeliveryLoop } from './delivery-loop.ts'
import type { PollTurn, Turn } from './poll-turn.ts'

/** Before another try, whether the turn was not free, was lost, or the database is out of reach. */
const AGAIN_MS = 1000

export interface DeliveryTurnsParts {
  turns: PollTurn
  clock: Clock
  /** Reads the deliveries of the former sidecar. @throws Refusal `postern_store_unwritable` */
  fresh: () => Promise<void>
  makeLoop: (turn: Turn) => DeliveryLoop
}

/** The same to its users as the one loop of a sidecar that is alone. */
export class DeliveryTurns implements Pick<DeliveryLoop, 'stop'> {
  readonly #parts: DeliveryTurnsParts
  readonly #halt = new AbortController()
  readonly #work: Promise<void>
  #how = { graceMs: 0, confirms: true }

  /** Begins at once. */
  constructor(parts: DeliveryTurnsParts) {
    this.#parts = parts
    this.#work = this.#run()
  }

  async stop({ graceMs, confirms = true }: { graceMs: number; confirms?: boolean }): Promise<void> {
    this.#how = { graceMs, confirms }
    this.#halt.abort()
    await this.#work
  }

  async #run(): Promise<void> {
    const { clock, turns } = this.#parts
    const { signal } = this.#halt
    while (!signal.aborted) {
      // a database that is out of reach is reported by itself
      await this.#deliver().catch(() => undefined)
      await clock.wait(AGAIN_MS, signal)
      await turns.untilFree(signal)
    }
  }

  /** Delivers from the moment at which it is our turn until that ends, or a sidecar asks that has fewer. */
  async #deliver(): Promise<void> {
    const { turns, fresh, makeLoop } = this.#parts
    await using turn = await turns.tryTake()
    if (turn === null) return
    await fresh()
    if (!turn.isHeld || this.#halt.signal.aborted) return
    const loop = makeLoop(turn)
    const ended = AbortSignal.any([turn.signal, turn.asked, this.#halt.signal])
    if (!ended.aborted) await once(ended, 'abort')
    await loop.stop(turn.isHeld ? this.#how : { graceMs: 0, confirms: false })
  }
}
