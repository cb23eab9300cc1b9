import type { z } from 'zod'
import type { EventBody } from '../events/event.ts'
import { FAULTS, type FaultName, type FaultOptions, type FaultPhase } from './table.ts'
import type { FaultStatus } from './table.ts'

/** A fault that is set. */
export type ActiveFault = Omit<z.output<typeof FaultStatus>, 'struck' | 'left'>

interface ArmedFault {
  fault: ActiveFault
  struck: number
  skip: number
  left: number
  chance: () => number
}

/** The faults that are set, in the order they were set. */
export class Faults {
  #next = 1
  readonly #armed = new Map<number, ArmedFault>()
  readonly #emit: (event: EventBody) => void

  /** @param emit called each time one strikes */
  constructor(emit: (event: EventBody) => void) {
    this.#emit = emit
  }

  /** Sets a fault; gives its number, for `clear`. */
  set(name: FaultName, options: FaultOptions = {}): number {
    const id = this.#next++
    this.#armed.set(id, {
      fault: { ...options, id, name },
      struck: 0,
      skip: options.after ?? 0,
      left: options.times ?? Infinity,
      chance: randomFrom(options.seed ?? 1),
    })
    return id
  }

  /** Ends one fault, or all. */
  clear(id?: number): void {
    if (id === undefined) this.#armed.clear()
    else this.#armed.delete(id)
  }

  /** Every fault that is set, as it was set. */
  list(): ActiveFault[] {
    return [...this.#armed.values()].map(({ fault }) => ({ ...fault }))
  }

  /** The faults that are set, in the order they were set, and how often each struck. */
  status(): z.output<typeof FaultStatus>[] {
    return [...this.#armed.values()].map(({ fault, struck, left }) => ({
      ...fault,
      struck,
      left: left === Infinity ? null : left,
    }))
  }

  /** The faults that strike a call in a phase. Each counts as a use. */
  take(phase: FaultPhase, call: { route: string; botId: number | undefined }): ActiveFault[] {
    const { route } = call
    const isMeant = (fault: ActiveFault): boolean =>
      FAULTS[fault.name].phase === phase && (fault.route ?? route) === route
    return [...this.#hits(call, isMeant)]
  }

  /** The fault of that name that applies to a bot now, or null. Counts as a use. */
  takeRule(name: FaultName, botId: number): ActiveFault | null {
    const [fault = null] = this.#hits({ botId }, (one) => one.name === name)
    return fault
  }

  /** The fault of that name that is set for a chat, or null. Does not count as a use. */
  activeRule(name: FaultName, chatId: number): ActiveFault | null {
    return this.list().find((fault) => fault.name === name && fault.chatId === chatId) ?? null
  }

  /** Uses the faults that strike a bot, one by one as they are read. */
  *#hits(
    call: { route?: string; botId: number | undefined },
    isMeant: (fault: ActiveFault) => boolean,
  ): Generator<ActiveFault, void> {
    for (const armed of this.#armed.values()) {
      const { fault } = armed
      const isAimed = (fault.botId ?? call.botId) === call.botId
      if (!isAimed || !isMeant(fault) || !this.#isHit(armed)) continue
      const { route = null, botId = null } = call
      this.#emit({ kind: 'fault', faultId: fault.id, name: fault.name, route, botId })
      yield fault
    }
  }

  /** Whether it strikes this time, which counts as a use. */
  #isHit(armed: ArmedFault): boolean {
    if (armed.skip > 0) {
      armed.skip--
      return false
    }
    const { oneIn } = armed.fault
    if (oneIn !== undefined && Math.floor(armed.chance() * oneIn) !== 0) return false
    armed.struck++
    if (--armed.left <= 0) this.#armed.delete(armed.fault.id)
    return true
  }
}

/** A deterministic random generator of numbers in [0, 1) (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
