/** Events that happen while a task is under way as well: none of them changes the task. */
import { NoResponseError, ServiceError } from '../../errors.ts'
import { codeOf, retryAfterMs, type Transition } from './transition.ts'
import { ClockOff } from './clocks.ts'
import { activeKey, pendingKey, RETRY_FIRST_MS, type ActionResult, type KeyEvent } from './life.ts'
import { isExpired } from './own-key.ts'
import {
  beginRotation,
  currentRotation,
  endRotation,
  hurryRotation,
  pauseMsOf,
} from './rotation.ts'

const CHECK_EVERY_MS = 600_000
/** While the key is not the published one: with its spread and an attempt below the 15 s of readiness. */
export const RETRY_MAX_MS = 8000
/** A refused token is not tried more often. */
const TOKEN_RETRY_MS = 60_000

type AnyTimeEvent = Exclude<KeyEvent, ActionResult | { kind: 'asked' }>

export const ANY_TIME: {
  [K in AnyTimeEvent['kind']]: (
    change: Transition,
    event: Extract<AnyTimeEvent, { kind: K }>,
  ) => void
} = {
  'bot-observed': (change, { fingerprint }) => {
    const { task, shown, isUnanswered } = change.life
    if (task.step === 'reading' || task.step === 'confirming') return
    const isOther = shown !== undefined && fingerprint !== shown
    if (isOther || isUnanswered) change.effects.push({ kind: 'compare-soon' })
  },
  /** The time of the published key may be over, or, by a clock that was set, not yet. */
  'clock-passed': (change) => {
    const { keys, nowMs } = change.facts
    const active = activeKey(keys)
    if (active === undefined) return
    const other = isExpired(active, nowMs) ? 'published' : 'expired'
    if (change.life.publication === other) change.becomeShown()
  },
  'keys-changed': (change) => {
    const { keys } = change.facts
    const [active, pending] = [activeKey(keys), pendingKey(keys)]
    const current = currentRotation(change.life.rotation)
    if (current !== null && pending?.fingerprint !== current.to) {
      const end = active?.fingerprint === current.to ? 'done' : 'abandoned'
      change.rotate((it) => endRotation(it, end, change.facts))
    }
    if (currentRotation(change.life.rotation) === null) {
      resumeRotation(change, 'another sidecar rotates the key')
    }
    if (pending?.offeredAtMs != null) {
      change.become('unpublished', 'another sidecar publishes a key')
    } else if (active !== undefined && change.life.publication === 'unpublished') {
      change.becomeShown()
    }
  },
  'key-imported': (change) => resumeRotation(change, 'an imported key is on disk'),
  'rotation-joined': (change) => {
    if (currentRotation(change.life.rotation) === null) return
    change.rotate(hurryRotation)
    change.effects.push({ kind: 'compare-soon' })
  },
  dropping: (change, { isOn }) => {
    const isDropping = isOn && pendingKey(change.facts.keys)?.offeredAtMs === null
    change.set({ isDropping })
    if (isDropping) change.effects.push({ kind: 'drop-hold' })
  },
  'hold-overrun': (change) => {
    change.become('unpublished', 'the service has not shown the new key yet')
    change.effects.push({ kind: 'open-gate' })
  },
  compared: (change, { isSettled, isTimed }) => {
    change.set({ failedWith: null })
    if (isTimed) compareLater(change, isSettled)
  },
  'compare-failed': (change, { error, isTimed }) => {
    const detail =
      error instanceof ClockOff ? error.message : `waiting to publish: ${codeOf(error)}`
    const code = codeOf(error)
    const isUnanswered = error instanceof NoResponseError
    // That nobody answered is a reason of its own against readiness, which is logged.
    const isLogged = code === change.life.failedWith || isUnanswered
    const message = 'the key could not be compared or published'
    change.log(isLogged ? 'debug' : 'warn', { code }, message)
    if (change.life.publication === 'unpublished') change.become('unpublished', detail)
    const isTokenRefused = error instanceof ServiceError && error.status === 401
    const leastMs = isTokenRefused ? TOKEN_RETRY_MS : retryAfterMs(error)
    const retryMs = Math.max(change.life.retryMs, leastMs)
    change.set({ failedWith: code, isUnanswered, retryMs })
    if (isTimed) compareLater(change, false)
  },
}

/** A pending key beside an active one is a rotation. */
export function resumeRotation(change: Transition, detail: string): void {
  const { keys } = change.facts
  const [active, pending] = [activeKey(keys), pendingKey(keys)]
  if (active === undefined || pending === undefined) return
  const [from, to] = [active.fingerprint, pending.fingerprint]
  const begun = { from, to, startedAtMs: pending.createdAtMs, detail }
  change.rotate((it) => beginRotation(it, begun))
}

function compareLater(change: Transition, isSettled: boolean): void {
  const { retryMs, rotation } = change.life
  const isRotating = currentRotation(rotation) !== null
  const nextMs = isRotating ? pauseMsOf(rotation, change.facts.monotonicMs) : Infinity
  const ms = isSettled ? Math.min(CHECK_EVERY_MS, nextMs) : retryMs
  change.effects.push({ kind: 'compare-later', ms })
  change.set({ retryMs: isSettled ? RETRY_FIRST_MS : Math.min(retryMs * 2, RETRY_MAX_MS) })
}
