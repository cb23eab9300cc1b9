import { OvertakenError } from '../../errors.ts'
import type { JudgingClock } from '../lookups.ts'
import type { NewSeen, Records } from '../memory.ts'
import type { ConfirmedUpdates } from './confirmed-updates.ts'
import {
  isSamePlace,
  isSameThing,
  mayRepeat,
  repeatRule,
  type Met,
  type ReplayCheck,
  type Sighting,
} from './seen-rules.ts'

export interface ReplayBatchParts {
  /** As the memory has it, its data first. */
  rowsOf: (sighting: Sighting) => [NewSeen, ...NewSeen[]]
  /** Of its data, then of its statements. */
  digestsOf: (met: Met) => Uint8Array[]
  confirmed: ConfirmedUpdates
  clock: JudgingClock
  nowMs: () => number
}

/** Asks the memory against replays of one batch, within one transaction. */
export function replayCheck(
  records: Records,
  { rowsOf, digestsOf, confirmed, clock, nowMs }: ReplayBatchParts,
): ReplayCheck {
  const { seen } = records
  return {
    async recognize(thing, claims) {
      const signatures = claims.map((digest) => ({ digest }))
      const found = await seen.find(digestsOf({ ...thing, signatures }))
      if (!found.every((one) => isSamePlace(one, thing))) return 'replayed'
      const known = found.find(({ kind }) => kind === 'data')
      if (known !== undefined) {
        if (!isSameThing(known, thing, clock.expiryNowMs())) return 'replayed'
        const { updateId } = thing
        if (updateId === null || known.isCountedAnew) return 'again'
        return (await confirmed.includes(records, updateId)) ? 'confirmed' : 'again'
      }
      const rule = repeatRule(thing, nowMs())
      return found.every((one) => mayRepeat(one, rule)) ? 'new' : 'replayed'
    },

    async remember(sighting, as) {
      const known = rowsOf(sighting)
      if (as === 'new') {
        const rule = repeatRule(sighting, nowMs())
        return await seen.add(known, { rule, heldBelow: confirmed.heldBelow })
      }
      const bound = await seen.bind(known[0].digest, sighting)
      // numbered by another transaction
      const isOurs = bound !== undefined && isSameThing(bound, sighting, clock.expiryNowMs())
      if (!isOurs) throw new OvertakenError()
    },
  }
}
