/** A rotation of the bot's key: when its next attempt is made, and when it is over. */
import { NO_ROTATION } from './life.ts'
import type { Transition } from './transition.ts'

const PAUSE_MAX_MS = 3_600_000

/** Begins one where a pending key is beside an active one. @param detail for people */
export function beginRotation(change: Transition, detail: string): void {
  const { active, pending } = change
  if (active === undefined || pending === undefined) return
  const current = { from: active.fingerprint, to: pending.fingerprint }
  const { endedAtMs } = change.life.rotation
  change.set({ rotation: { ...NO_ROTATION, current, endedAtMs } })
  const startedAtMs = pending.createdAtMs
  change.effects.push({ kind: 'rotation-begun', ...current, startedAtMs, detail })
}

/** How long until the next attempt, in ms; 0 when it is due. */
export const pauseMsOf = ({ life, facts }: Transition): number =>
  Math.max(0, life.rotation.nextAtMs - facts.monotonicMs)

/** Doubles the pause after a failed attempt, up to an hour. @param atLeastMs the service's wish */
export function pauseRotation(change: Transition, detail: string, atLeastMs = 0): void {
  const { rotation } = change.life
  if (rotation.current === null) return
  const waitMs = Math.max(rotation.pauseMs, atLeastMs)
  const pauseMs = Math.min(rotation.pauseMs * 2, PAUSE_MAX_MS)
  const nextAtMs = change.facts.monotonicMs + waitMs
  change.set({ rotation: { ...rotation, pauseMs, nextAtMs } })
  change.showRotation('waiting', detail, waitMs)
}

/** The next attempt is due, as soon as nothing else keeps it back. */
export function hurryRotation(change: Transition, phase: 'made' | 'waiting', detail: string): void {
  change.set({ rotation: { ...change.life.rotation, nextAtMs: 0 } })
  change.showRotation(phase, detail)
}

export function endRotation(change: Transition, phase: 'done' | 'abandoned'): void {
  const { rotation } = change.life
  if (rotation.current === null) return
  change.showRotation(phase, '')
  const endedAtMs = change.facts.monotonicMs
  change.set({ rotation: { ...rotation, current: null, endedAtMs } })
}
