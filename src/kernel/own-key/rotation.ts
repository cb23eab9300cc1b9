/** The progress of a rotation, for people. Which keys it is about is on disk. */
import type { Time } from '../lookups.ts'

/**
 * `made`: the key is on disk. `holding`: sends under way are waited for, later ones wait.
 * `publishing`, `confirming`: at the service. `waiting`: it did not work, and is tried again.
 */
export type RotationPhase =
  'made' | 'holding' | 'publishing' | 'confirming' | 'waiting' | 'done' | 'abandoned'

/** The result of an attempt at a rotation. */
export type RotationOutcome =
  'done' | 'abandoned' | 'refused' | 'unanswered' | 'unconfirmed' | 'not-made'

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
  /** What it waits for, for people. */
  detail: string
  /** When the next attempt is made, while waiting. */
  nextAttemptAtMs: number | null
}

/** The rotation under way, or the last that ended since the start. Times are by `Time.monotonicMs`. */
export interface RotationProgress {
  latest: Rotation | null
  nextAtMs: number
  endedAtMs: number
  /** The pause after the next failure. */
  pauseMs: number
}

const PAUSE_FIRST_MS = 60_000
const PAUSE_MAX_MS = 3_600_000

export const NO_ROTATION: RotationProgress = {
  latest: null,
  nextAtMs: 0,
  endedAtMs: -Infinity,
  pauseMs: PAUSE_FIRST_MS,
}

/** The rotation under way. */
export function currentRotation({ latest }: RotationProgress): Rotation | null {
  return latest?.endedAtMs === null ? latest : null
}

/** How long until the next attempt, in ms; 0 when it is due. */
export function pauseMsOf({ nextAtMs }: RotationProgress, monotonicMs: number): number {
  return Math.max(0, nextAtMs - monotonicMs)
}

/** @param rotation `detail`: what it waits for */
export function beginRotation(
  { endedAtMs }: RotationProgress,
  rotation: Pick<Rotation, 'from' | 'to' | 'startedAtMs' | 'detail'>,
): RotationProgress {
  const rest = { phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null } as const
  return { ...NO_ROTATION, endedAtMs, latest: { ...rotation, ...rest } }
}

/** A step of an attempt. Nothing changes while no rotation is under way, here and in all below. */
export function enterPhase(
  progress: RotationProgress,
  phase: 'holding' | 'publishing' | 'confirming',
  detail: string,
): RotationProgress {
  const before = progress.latest?.attempts ?? 0
  const attempts = before + (phase === 'holding' ? 1 : 0)
  return changed(progress, { phase, detail, attempts, nextAttemptAtMs: null })
}

/**
 * An attempt failed. The pause before the next one doubles each time, up to an hour.
 * @param o `atLeastMs` as long as the service asks for
 */
export function pauseRotation(
  progress: RotationProgress,
  { detail, atLeastMs = 0 }: { detail: string; atLeastMs?: number },
  { nowMs, monotonicMs }: Record<keyof Time, number>,
): RotationProgress {
  if (currentRotation(progress) === null) return progress
  const waitMs = Math.max(progress.pauseMs, atLeastMs)
  const paused = {
    ...progress,
    pauseMs: Math.min(progress.pauseMs * 2, PAUSE_MAX_MS),
    nextAtMs: monotonicMs + waitMs,
  }
  return changed(paused, { phase: 'waiting', detail, nextAttemptAtMs: nowMs + waitMs })
}

/** It waits for something else to change; the next attempt is then made at once. */
export function stallRotation(progress: RotationProgress, detail: string): RotationProgress {
  const due = { ...progress, nextAtMs: 0 }
  return changed(due, { phase: 'waiting', detail, nextAttemptAtMs: null })
}

/** The next attempt is due. */
export function hurryRotation(progress: RotationProgress): RotationProgress {
  const due = { ...progress, nextAtMs: 0 }
  if (currentRotation(progress)?.phase !== 'waiting') return due
  return changed(due, { phase: 'made', detail: 'it is tried again', nextAttemptAtMs: null })
}

export function endRotation(
  progress: RotationProgress,
  phase: 'done' | 'abandoned',
  { nowMs, monotonicMs }: Record<keyof Time, number>,
): RotationProgress {
  if (currentRotation(progress) === null) return progress
  const ended = { ...progress, endedAtMs: monotonicMs }
  return changed(ended, { phase, detail: '', endedAtMs: nowMs, nextAttemptAtMs: null })
}

function changed(progress: RotationProgress, change: Partial<Rotation>): RotationProgress {
  const current = currentRotation(progress)
  return current === null ? progress : { ...progress, latest: { ...current, ...change } }
}
