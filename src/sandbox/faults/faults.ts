import { FAULTS, type FaultName, type FaultOptions, type FaultPhase } from './table.ts'

/** A fault that is set. */
export interface Fault extends FaultOptions {
  id: number
  name: FaultName
}

interface Armed {
  fault: Fault
  skip: number
  left: number
  chance: () => number
}

/** The faults that are set, in the order they were set. */
export class Faults {
  #next = 1
  readonly #armed = new Map<number, Armed>()

  /** Sets a fault; gives its number, for `clear`. */
  set(name: FaultName, options: FaultOptions = {}): number {
    const id = this.#next++
    this.#armed.set(id, {
      fault: { ...options, id, name },
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

  /** The faults that strike a call in a phase; each is counted as used. */
  take(phase: FaultPhase, call: { route: string; botId: number | undefined }): Fault[] {
    const struck: Fault[] = []
    for (const armed of this.#armed.values()) {
      const { fault } = armed
      const routed = fault.route === undefined || fault.route === call.route
      const aimed = fault.botId === undefined || fault.botId === call.botId
      if (FAULTS[fault.name] === phase && routed && aimed && this.#strikes(armed)) {
        struck.push(fault)
      }
    }
    return struck
  }

  /** The fault of that name that bends a rule now, or null; counted as used. */
  takeRule(name: FaultName, botId: number): Fault | null {
    for (const armed of this.#armed.values()) {
      const aimed = armed.fault.botId === undefined || armed.fault.botId === botId
      if (armed.fault.name === name && aimed && this.#strikes(armed)) return armed.fault
    }
    return null
  }

  /** A fault of that name about a chat that stands; it is not used up by looking. */
  standing(name: FaultName, chatId: number): Fault | null {
    for (const { fault } of this.#armed.values()) {
      if (fault.name === name && fault.chatId === chatId) return fault
    }
    return null
  }

  #strikes(armed: Armed): boolean {
    if (armed.skip > 0) {
      armed.skip--
      return false
    }
    const { oneIn } = armed.fault
    if (oneIn !== undefined && Math.floor(armed.chance() * oneIn) !== 0) return false
    if (--armed.left <= 0) this.#armed.delete(armed.fault.id)
    return true
  }
}

/** Numbers in [0, 1) that follow from the seed alone (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
