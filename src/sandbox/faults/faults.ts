import { hash } from 'node:crypto'
import type { z } from 'zod'
import type { EventBody } from '../events/event.ts'
import { FAULTS } from './table.ts'
import type { FaultName, FaultOptions, FaultPhase, FaultStatus } from './table.ts'

/** A fault that is set. */
export type ActiveFault = Omit<z.output<typeof FaultStatus>, 'struck' | 'left'>

/** A call that faults can strike. */
type FaultCall = { route: string; botId: number | undefined }

interface ArmedFault extends Record<'struck' | 'skip' | 'left', number> {
  fault: ActiveFault
  chance: () => number
}

/** The faults that are set, in the order they were set. @param emit called each time one strikes */
export function createFaults(emit: (event: EventBody) => void) {
  let nextId = 1
  const armed = new Map<number, ArmedFault>()

  /** Every fault that is set, as it was set. */
  const list = (): ActiveFault[] => Array.from(armed.values(), ({ fault }) => ({ ...fault }))

  /** Uses the faults that strike a bot, one by one as they are read. */
  function* hits(call: Partial<FaultCall>, isMeant: (fault: ActiveFault) => boolean) {
    const { route = null, botId = null } = call
    for (const one of armed.values()) {
      const { fault } = one
      const isAimed = fault.botId === undefined || fault.botId === botId
      if (!isAimed || !isMeant(fault) || !isHit(one)) continue
      emit({ kind: 'fault', faultId: fault.id, name: fault.name, route, botId })
      yield fault
    }
  }

  /** Whether it strikes this time, which counts as a use. */
  const isHit = (one: ArmedFault): boolean => {
    if (one.skip > 0) {
      one.skip--
      return false
    }
    const { oneIn } = one.fault
    if (oneIn !== undefined && one.chance() % oneIn !== 0) return false
    one.struck++
    if (--one.left <= 0) armed.delete(one.fault.id)
    return true
  }

  return {
    list,
    /** Sets a fault; gives its number, for `clear`. */
    set: (name: FaultName, options: FaultOptions = {}): number => {
      const id = nextId++
      armed.set(id, {
        fault: { ...options, id, name },
        struck: 0,
        skip: options.after ?? 0,
        left: options.times ?? Infinity,
        chance: randomFrom(options.seed ?? 1),
      })
      return id
    },
    /** Ends one fault, or all. */
    clear: (id?: number): void => {
      if (id === undefined) armed.clear()
      else armed.delete(id)
    },
    /** The faults that are set, in the order they were set, and how often each struck. */
    status: (): z.output<typeof FaultStatus>[] =>
      Array.from(armed.values(), ({ fault, struck, left }) => {
        return { ...fault, struck, left: left === Infinity ? null : left }
      }),
    /** The faults that strike a call in a phase. Each counts as a use. */
    take: (phase: FaultPhase, call: FaultCall): ActiveFault[] => [
      ...hits(
        call,
        ({ name, route = call.route }) => FAULTS[name].phase === phase && route === call.route,
      ),
    ],
    /** The fault of that name that applies to a bot now, or null. Counts as a use. */
    takeRule: (name: FaultName, botId: number): ActiveFault | null =>
      hits({ botId }, (one) => one.name === name).next().value ?? null,
    /** The fault of that name that is set for a chat, or null. Does not count as a use. */
    activeRule: (name: FaultName, chatId: number): ActiveFault | null =>
      list().find((fault) => fault.name === name && fault.chatId === chatId) ?? null,
  }
}

/** A deterministic random generator of integers from 0, below 2 ** 32. */
function randomFrom(seed: number): () => number {
  let n = 0
  return () => hash('sha256', `${seed} ${n++}`, 'buffer').readUInt32BE()
}
