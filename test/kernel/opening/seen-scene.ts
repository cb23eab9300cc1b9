/** A `Memory` of what was seen and confirmed, in a map: no store, no process. */
import { OvertakenError } from '../../../src/errors.ts'
import type { Memory, NewSeen, Records, SeenRecord } from '../../../src/kernel/index.ts'
import { ReplayMemory } from '../../../src/kernel/opening/replay-memory.ts'
import { isSamePlace, mayRepeat } from '../../../src/kernel/opening/seen-rules.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'

export async function replayMemoryInMap(): Promise<ReplayMemory> {
  const seen = new Map<string, SeenRecord>()
  let below = 0
  const keyOf = (digest: Uint8Array): string => Buffer.from(digest).toString('hex')
  const isSame = (one: SeenRecord, { chatId, userId, mediaId }: NewSeen): boolean =>
    isSamePlace(one, { chatId, userId, ...(mediaId !== null && { mediaId }) } as never)
  const records = {
    seen: {
      expect: () => Promise.resolve(),
      find: (digests: readonly Uint8Array[]) =>
        Promise.resolve(digests.flatMap((digest) => seen.get(keyOf(digest)) ?? [])),
      add: (all: readonly NewSeen[], o: { rule: never; heldBelow: number }) => {
        const kept = all.flatMap((one) => {
          const known = seen.get(keyOf(one.digest))
          if (known !== undefined) {
            if (!isSame(known, one) || !mayRepeat(known, o.rule)) return []
            known.repeats++
            return [known]
          }
          const isCountedAnew = one.updateId !== null && one.updateId < Math.max(o.heldBelow, below)
          const added = { ...one, isCountedAnew }
          seen.set(keyOf(one.digest), added)
          return [added]
        })
        if (kept.length < all.length) throw new OvertakenError()
        return Promise.resolve()
      },
      finish: () => Promise.resolve([]),
      bind: (digest: Uint8Array, to: { messageId: number | null; updateId: number | null }) => {
        const known = seen.get(keyOf(digest))
        if (known !== undefined) {
          known.messageId ??= to.messageId
          known.updateId ??= to.updateId
        }
        return Promise.resolve(known)
      },
      hasOpened: () => Promise.resolve(false),
      prunedBeforeMs: () => Promise.resolve(-Infinity),
    },
    confirmed: {
      below: () => Promise.resolve(below),
      raise: (to: number) => {
        below = Math.max(below, to)
        return Promise.resolve({ countsAnew: false })
      },
      isRecorded: (to: number) => Promise.resolve(below >= to),
      noteCountedAnew: () => Promise.resolve(),
    },
  } as unknown as Records
  const run = async <T>(change: (records: Records) => Promise<T>): Promise<T> =>
    await change(records)
  const keep: Memory['keep'] = (_kind, read) => read(records, null)
  const memory = { isShared: false, nowMs: Date.now, read: run, note: run, keep }
  const parts = { key: Buffer.alloc(32), gaps: [], clock: agreeingClocks() }
  return await ReplayMemory.load(memory as unknown as Memory, parts)
}
