import { ALL_CASES } from './cases/all.ts'
import type { Driver } from './driver.ts'
import type { Proof } from './spec/statements.ts'

/** How a way went. */
export interface Played {
  held: number
  /** What the cases that held show. */
  proven: Set<Proof>
  notPlayed: number
  /** What did not hold, and how. */
  broken: { name: string; why: string }[]
}

/** Plays every case of a way, one after the other. @param onBroken receives each that fails */
export async function playAll(
  driver: Driver,
  onBroken: (broken: Played['broken'][number]) => void,
): Promise<Played> {
  const played: Played = { held: 0, proven: new Set(), notPlayed: 0, broken: [] }
  for (const one of ALL_CASES) {
    if (driver.whyNot(one) !== null) {
      played.notPlayed++
      continue
    }
    try {
      await driver.play(one)
      played.held++
      for (const proof of one.proves) played.proven.add(proof)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const broken = { name: `${one.section}: ${one.name}`, why }
      played.broken.push(broken)
      onBroken(broken)
    }
  }
  return played
}
