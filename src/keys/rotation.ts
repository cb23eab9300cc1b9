/** The progress of a rotation, for people. Its state is on disk. */

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

const WAIT_FIRST_MS = 60_000
const WAIT_MAX_MS = 3_600_000

/** The rotation under way, or the last that ended since the start. */
export class RotationWatch {
  #rotation: Rotation | null = null
  /** By `performance.now()`. */
  #nextAtMs = 0
  #endedAtMs = -Infinity
  #waitMs = WAIT_FIRST_MS

  get latest(): Rotation | null {
    return this.#rotation
  }

  /** The one under way. */
  get current(): Rotation | null {
    const rotation = this.#rotation
    return rotation?.endedAtMs === null ? rotation : null
  }

  /** How long until the next attempt, in ms; 0 when it is due. */
  get waitMs(): number {
    return Math.max(0, this.#nextAtMs - performance.now())
  }

  /** Whether one ended at `sinceMs` (`performance.now()`) or later. */
  endedSince(sinceMs: number): boolean {
    return this.#endedAtMs >= sinceMs
  }

  /** @param detail what is waited for; a rotation that a former process began is taken up again */
  begin(o: { from: string; to: string; startedAtMs: number; detail: string }): Rotation {
    const rest = { phase: 'made', endedAtMs: null, attempts: 0, nextAttemptAtMs: null } as const
    this.#rotation = { ...o, ...rest }
    this.#nextAtMs = 0
    this.#waitMs = WAIT_FIRST_MS
    return this.#rotation
  }

  /** Does nothing when none is under way; so do all methods below. */
  enter(phase: 'holding' | 'publishing' | 'confirming', detail: string): void {
    const attempts = (this.current?.attempts ?? 0) + (phase === 'holding' ? 1 : 0)
    this.#change({ phase, detail, attempts, nextAttemptAtMs: null })
  }

  /**
   * An attempt failed. The pause before the next one doubles each time, up to an hour.
   * @param o `atLeastMs` as long as the service asks for
   */
  wait({ detail, atLeastMs = 0 }: { detail: string; atLeastMs?: number }): void {
    if (this.current === null) return
    const waitMs = Math.max(this.#waitMs, atLeastMs)
    this.#waitMs = Math.min(this.#waitMs * 2, WAIT_MAX_MS)
    this.#nextAtMs = performance.now() + waitMs
    this.#change({ phase: 'waiting', detail, nextAttemptAtMs: Date.now() + waitMs })
  }

  /** Waits for something else to change; the next attempt is then made at once. */
  stall(detail: string): void {
    this.#nextAtMs = 0
    this.#change({ phase: 'waiting', detail, nextAttemptAtMs: null })
  }

  /** The next attempt is due. */
  hurry(): void {
    this.#nextAtMs = 0
    if (this.current?.phase !== 'waiting') return
    this.#change({ phase: 'made', detail: 'it is tried again', nextAttemptAtMs: null })
  }

  /** @returns the one that ended, or null */
  end(phase: 'done' | 'abandoned'): Rotation | null {
    if (this.current === null) return null
    this.#endedAtMs = performance.now()
    this.#change({ phase, detail: '', endedAtMs: Date.now(), nextAttemptAtMs: null })
    return this.latest
  }

  #change(change: Partial<Rotation>): void {
    if (this.current !== null) this.#rotation = { ...this.current, ...change }
  }
}
