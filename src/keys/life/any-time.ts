/** Events that happen while a task is under way as well: none of them changes the task. */
import { ClockOff, NoResponseError, ServiceError } from '../../errors.ts'
import { mayDiscard, stateWhileShown } from '../../kernel/index.ts'
import { codeOf, retryAfterMs, type Transition } from './transition.ts'
import { RETRY_FIRST_MS, type ActionResult, type KeyEvent } from './life.ts'
import { beginRotation, endRotation, hurryRotation, pauseMsOf } from './rotation.ts'

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
    if (change.active === undefined) return
    const other = stateWhileShown(change.facts) === 'expired' ? 'published' : 'expired'
    if (change.life.publication === other) change.becomeShown()
  },
  'keys-changed': (change) => {
    const { active, pending } = change
    const { current } = change.life.rotation
    if (current !== null && pending?.fingerprint !== current.to) {
      endRotation(change, active?.fingerprint === current.to ? 'done' : 'abandoned')
    }
    if (change.life.rotation.current === null) {
      beginRotation(change, 'another sidecar rotates the key')
    }
    if (pending?.offeredAtMs != null) {
      change.become('unpublished', 'another sidecar publishes a key')
    } else if (active !== undefined && change.life.publication === 'unpublished') {
      // where `/me` showed no key that waited or was active, the next comparison decides
      if ([null, 'equal', 'pending'].includes(change.life.remote)) change.becomeShown()
    }
  },
  'key-found': (change, { detail }) => beginRotation(change, detail),
  'rotation-joined': (change) => {
    if (change.life.rotation.current === null) return
    hurryRotation(change, 'made', 'it is tried again')
    change.effects.push({ kind: 'compare-soon' })
  },
  dropping: (change, { isOn }) => {
    const isDropping = isOn && change.pending !== undefined && mayDiscard(change.pending)
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
    const code = codeOf(error)
    const isUnanswered = error instanceof NoResponseError
    // That nobody answered is a reason of its own against readiness, which is logged.
    const isLogged = code === change.life.failedWith || isUnanswered
    const message = 'the key could not be compared or published'
    change.log(isLogged ? 'debug' : 'warn', { code }, message)
    if (change.life.publication === 'unpublished') {
      const isClockOff = error instanceof ClockOff
      change.become('unpublished', isClockOff ? error.message : `waiting to publish: ${code}`)
    }
    const isTokenRefused = error instanceof ServiceError && error.status === 401
    const leastMs = isTokenRefused ? TOKEN_RETRY_MS : retryAfterMs(error)
    const retryMs = Math.max(change.life.retryMs, leastMs)
    change.set({ failedWith: code, isUnanswered, retryMs })
    if (isTimed) compareLater(change, false)
  },
}

function compareLater(change: Transition, isSettled: boolean): void {
  const { retryMs, rotation } = change.life
  const nextMs = rotation.current === null ? Infinity : pauseMsOf(change)
  const ms = isSettled ? Math.min(CHECK_EVERY_MS, nextMs) : retryMs
  change.effects.push({ kind: 'compare-later', ms })
  change.set({ retryMs: isSettled ? RETRY_FIRST_MS : Math.min(retryMs * 2, RETRY_MAX_MS) })
}
