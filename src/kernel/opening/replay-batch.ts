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
  type Recognition,
  type Rememberable,
  type ReplayCheck,
  type Sighting,
  type Thing,
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
export class ReplayBatch implements ReplayCheck {
  readonly #records: Records
  readonly #parts: ReplayBatchParts

  constructor(records: Records, parts: ReplayBatchParts) {
    this.#records = records
    this.#parts = parts
  }

  async recognize(thing: Thing, claims: readonly string[]): Promise<Recognition> {
    const { digestsOf, clock, confirmed, nowMs } = this.#parts
    const signatures = claims.map((digest) => ({ digest }))
    const found = await this.#records.seen.find(digestsOf({ ...thing, signatures }))
    if (!found.every((seen) => isSamePlace(seen, thing))) return 'replayed'
    const known = found.find(({ kind }) => kind === 'data')
    if (known !== undefined) {
      if (!isSameThing(known, thing, clock.expiryNowMs())) return 'replayed'
      const { updateId } = thing
      if (updateId === null || known.isCountedAnew) return 'again'
      return (await confirmed.includes(this.#records, updateId)) ? 'confirmed' : 'again'
    }
    const rule = repeatRule(thing, nowMs())
    return found.every((seen) => mayRepeat(seen, rule)) ? 'new' : 'replayed'
  }

  async remember(sighting: Sighting, as: Rememberable): Promise<void> {
    const { rowsOf, clock, confirmed, nowMs } = this.#parts
    const known = rowsOf(sighting)
    const { seen } = this.#records
    if (as === 'again') {
      const bound = await seen.bind(known[0].digest, sighting)
      // numbered by another transaction
      const isOurs = bound !== undefined && isSameThing(bound, sighting, clock.expiryNowMs())
      if (!isOurs) throw new OvertakenError()
      return
    }
    const rule = repeatRule(sighting, nowMs())
    await seen.add(known, { rule, heldBelow: confirmed.heldBelow })
  }
}
