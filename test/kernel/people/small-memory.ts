/** A memory of one process, for tests of what is written, and of what is read again. */
import { setImmediate as immediate } from 'node:timers/promises'
import { Refusal } from '../../../src/errors.ts'
import type {
  FollowedRecords,
  Keys,
  Memory,
  Records,
  Unwritten,
} from '../../../src/kernel/memory.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { Trust, type TrustParts } from '../../../src/kernel/people/trust.ts'

type Query = (...given: never[]) => unknown

/**
 * @param answers what queries give, as `'pins.of'`; `written` has all other calls, once they are over
 * @returns `reread` as when another sidecar has changed records; `state.isFull`: nothing can be written
 */
export function smallMemory(answers: Record<string, Query> = {}) {
  const unwritten: Unwritten[] = []
  const kept = new Map<string, (records: Records, keys: Keys) => Promise<void>>()
  const state = { isFull: false, nowMs: 0, settled: 0 }
  const written: [string, ...unknown[]][] = []
  const query =
    (name: string) =>
    async (...given: unknown[]): Promise<unknown> => {
      await immediate()
      const answer = answers[name]
      if (answer !== undefined) return answer(...(given as never[]))
      if (/\.(of|owners)$/.test(name)) return []
      written.push([name, ...structuredClone(given)])
      return undefined
    }
  const recordsOf = (kind: string): unknown =>
    new Proxy({}, { get: (_, name: string) => query(`${kind}.${name}`) })
  const records = new Proxy({}, { get: (_, kind: string) => recordsOf(kind) }) as Records
  const settle = async (): Promise<void> => {
    state.settled++
    if (state.isFull) throw new Refusal('postern_store_unwritable')
    for (const one of unwritten) if (one.isDue()) (await one.save(records))()
  }
  const memory: Partial<Memory> = {
    nowMs: () => state.nowMs,
    read: (some) => some(records),
    write: async (change, onWritten) => {
      await settle()
      const result = await change(records)
      onWritten?.(result)
      return result
    },
    note: async (change) => {
      await settle()
      return await change(records)
    },
    settle,
    fresh: async () => {},
    writeFirst: (one) => void unwritten.push(one),
    keep: (kind, read) => {
      kept.set(kind, read)
      return read(records, null)
    },
  }
  const reread = (kind: FollowedRecords, keys: string[]): Promise<void> | undefined =>
    kept.get(kind)?.(records, keys)
  return { memory: memory as Memory, written, state, reread, answers }
}

/** Trust over such a memory, with the parts that it was made of. @param more in place of its own */
export async function smallTrust(more: Partial<TrustParts> = {}) {
  const small = smallMemory()
  const { memory } = small
  const parts = { memory, journal: new Journal(memory), people: await People.load(memory) }
  const clocks = { earliestMs: () => 0, latestMs: () => 0, expiryNowMs: () => 0 }
  const trust = await Trust.load({ ...parts, policy: 'accept', clocks, ...more })
  return { ...small, ...parts, trust }
}
