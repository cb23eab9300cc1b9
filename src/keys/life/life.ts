/** The life of the bot's key as data: its states, events and effects. */
import { stateAtStart } from '../../kernel/index.ts'
import type { Attempt, Facts, PublicationState, RemoteKeyState } from '../../kernel/index.ts'

/**
 * `made`: the key is on disk. `holding`: sends wait. `publishing`, `confirming`: at the service.
 * `waiting`: for the next attempt.
 */
export type RotationPhase =
  'made' | 'holding' | 'publishing' | 'confirming' | 'waiting' | 'done' | 'abandoned'

/** The result of an attempt at a rotation. */
export type RotationOutcome =
  'done' | 'abandoned' | 'refused' | 'unanswered' | 'unconfirmed' | 'not-made'

/** When rotations are made. Times are by `Time.monotonicMs`. */
export interface RotationState {
  /** Fingerprints of the key that is active and of the one that is to be; null when none is under way. */
  current: { from: string; to: string } | null
  nextAtMs: number
  /** When the last one ended. */
  endedAtMs: number
  /** The pause after the next failure. */
  pauseMs: number
}

/**
 * The purpose of a task. `compare`: `/me` with our keys. `observe`: the same without an act, while
 * another sidecar has the turn. `report`: the fingerprint in `/me`. The others are commands of the
 * operator; `replace` publishes also over a foreign key.
 */
export type Errand =
  'compare' | 'observe' | 'publish' | 'replace' | 'rotate' | 'make-first' | 'report' | 'abandon'

/** The end of a task. `isSettled`: nothing is left until the next regular comparison. */
export type Ending = { isSettled: boolean } | { error: unknown }

/** The steps of an attempt; sends are held from the second to the last. */
export type AttemptStep =
  'holding' | 'recording' | 'putting' | 'pausing' | 'confirming' | 'withdrawing'

/** A step of a task: one action is performed for it, and the next event is the result. */
export type TaskStep =
  | { step: 'reading' }
  | { step: 'refreshing' }
  | { step: 'making' }
  | { [S in AttemptStep]: { step: S; attempt: Attempt } }[AttemptStep]
  /** Without an attempt where the service shows the key already. */
  | { step: 'promoting'; attempt: Attempt | null }
  | { step: 'releasing'; ending: Ending }
  | { step: 'discarding'; fingerprint: string }

/** The task under way. */
export type Task = { step: 'idle' } | ({ errand: Errand } & TaskStep)

export type Step = Task['step']

/** The state of the key's life beside the keys on disk. */
export interface KeyLife {
  /** Setting `key.rotateEveryDays`, in ms; null when no rotation is planned. */
  readonly rotateEveryMs: number | null
  publication: PublicationState
  /** What `/me` last showed: against our keys, null before the first; and its fingerprint. */
  remote: RemoteKeyState | null
  shown: string | null | undefined
  rotation: RotationState
  task: Task
  /** The operator abandons the rotation: no attempt is made until that has ended. */
  isDropping: boolean
  /** An accepted publication that `/me` does not show yet: what it showed `before`, and when (monotonic). */
  accepted: { before: string | null; atMs: number } | null
  /** The pause before the next comparison while something is missing. */
  retryMs: number
  /** The code that the last comparison failed with, and whether the service gave no answer. */
  failedWith: string | null
  isUnanswered: boolean
}

/** The result of an action. `stopped`: the process ends, and the action was not performed. */
export type ActionResult =
  | { kind: 'done' }
  /** The answer of `GET /me`. */
  | { kind: 'shown'; fingerprint: string | null }
  | { kind: 'failed'; error: unknown }
  | { kind: 'stopped'; error: unknown }

export type KeyEvent =
  | ActionResult
  /** Begins a task, while none is under way. `sinceMs`: when `rotate` was asked, monotonic. */
  | { kind: 'asked'; errand: Errand; sinceMs?: number }
  /** At any time. `bot-observed`: somebody else made `GET /me`. */
  | { kind: 'bot-observed'; fingerprint: string | null }
  | { kind: 'clock-passed' }
  /** Another sidecar changed our keys. */
  | { kind: 'keys-changed' }
  /** A key may wait beside the active one, after a start or an import. `detail`: for people. */
  | { kind: 'key-found'; detail: string }
  | { kind: 'rotation-joined' }
  /** The operator abandons the rotation, until that has ended. */
  | { kind: 'dropping'; isOn: boolean }
  /** Sends are held for too long. */
  | { kind: 'hold-overrun' }
  /** A comparison has ended; `isTimed`: that of the timer. */
  | { kind: 'compared'; isSettled: boolean; isTimed: boolean }
  | { kind: 'compare-failed'; error: unknown; isTimed: boolean }

/** The driver performs one action at a time and hands back its result as an event. */
export type Action =
  | { kind: 'get-me' }
  /** Reads what other sidecars made of our keys. */
  | { kind: 'refresh-keys' }
  /** @see Keyring.makePending */
  | { kind: 'make-key' }
  /** Done when no send is under way, at any sidecar. */
  | { kind: 'hold-sends' }
  | { kind: 'release-sends' }
  /** `isOffered`: the service may know the key from now on; else it certainly does not. */
  | { kind: 'record-offered'; fingerprint: string; isOffered: boolean }
  | { kind: 'put-key'; fingerprint: string }
  | { kind: 'pause'; ms: number }
  | { kind: 'promote'; fingerprint: string }
  | { kind: 'discard'; fingerprint: string }

/** Announced at once, in order, before the action. */
export type Notice =
  | { kind: 'state'; state: PublicationState; detail: string }
  | { kind: 'rotation-attempt'; outcome: RotationOutcome }
  /** The progress of a rotation, for people. `waitMs`: until the next attempt, where its time is known. */
  | { kind: 'rotation-begun'; from: string; to: string; startedAtMs: number; detail: string }
  | { kind: 'rotation-step'; phase: RotationPhase; detail: string; waitMs: number | null }
  | {
      kind: 'log'
      level: 'debug' | 'info' | 'warn'
      fields: Record<string, unknown>
      message: string
    }
  /** The next comparison: as soon as possible, or after a pause. */
  | { kind: 'compare-soon' }
  | { kind: 'compare-later'; ms: number }
  /** Sends that are held go on, and are refused where nothing is published. */
  | { kind: 'open-gate' }
  /** `hold-sends` fails now. */
  | { kind: 'drop-hold' }
  /** The task has ended. */
  | ({ kind: 'ended' } & Ending)

export type Effect = Action | Notice

export const RETRY_FIRST_MS = 1000

export const NO_ROTATION: RotationState = {
  current: null,
  nextAtMs: 0,
  endedAtMs: -Infinity,
  pauseMs: 60_000,
}

/** The life at the start of a process. */
export const beginLife = (facts: Pick<Facts, 'keys'>, rotateEveryMs: number | null): KeyLife => ({
  rotateEveryMs,
  publication: stateAtStart(facts),
  remote: null,
  shown: undefined,
  rotation: NO_ROTATION,
  task: { step: 'idle' },
  isDropping: false,
  accepted: null,
  retryMs: RETRY_FIRST_MS,
  failedWith: null,
  isUnanswered: false,
})
