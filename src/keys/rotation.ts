/** How a rotation of the bot's key goes, for people. */
import type { Effect, RotationPhase } from './life/life.ts'

/** A rotation. Times are ms since the epoch. */
export interface Rotation {
  /** Fingerprints of the key that was active, and of the one that is to be. */
  from: string
  to: string
  phase: RotationPhase
  startedAtMs: number
  endedAtMs: number | null
  /** Attempts at publishing that were begun since the sidecar started. */
  attempts: number
  /** The reason for waiting. */
  detail: string
  /** When the next attempt is made, while waiting. */
  nextAttemptAtMs: number | null
}

export type RotationStep = Extract<Effect, { kind: 'rotation-begun' | 'rotation-step' }>

/** The rotation after a step. @param before the one under way, or the last that ended */
export function followRotation(
  before: Rotation | null,
  step: RotationStep,
  nowMs: number,
): Rotation | null {
  if (step.kind === 'rotation-begun') {
    const { kind: _kind, ...begun } = step
    return { ...begun, phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null }
  }
  const { phase, detail, waitMs } = step
  // only one that waits is tried again: another is at the service already
  if (before === null || (phase === 'made' && before.phase !== 'waiting')) return before
  return {
    ...before,
    phase,
    detail,
    attempts: before.attempts + (phase === 'holding' ? 1 : 0),
    endedAtMs: phase === 'done' || phase === 'abandoned' ? nowMs : null,
    nextAttemptAtMs: waitMs === null ? null : nowMs + waitMs,
  }
}
