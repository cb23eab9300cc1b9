/** One attempt at publishing a key: hold sends, record, publish, confirm by `/me`, promote (DESIGN: Keys). */
import { codeOf, isRefused, retryAfterMs, type Transition, type Handlers } from './transition.ts'
import type { AttemptStep, Attempt, Ending, Errand } from './life.ts'
import type { ReadyKey } from './own-key.ts'
import { endRotation, pauseRotation } from './rotation.ts'

/** Pauses before each `GET /me`, in ms: a service may show a key later than it accepts it. */
const PAUSES_MS = {
  yes: [0, 250, 500, 1000, 2000, 4000, 4000, 4000],
  unknown: [0, 500, 1500],
  no: [0],
}
/** After a lost answer the same key is published once more. */
const PUTS_MAX = 2

/** For operators, of an attempt that failed. */
const FAILED = {
  refused: 'the service refused it',
  unanswered: 'the service may have taken it',
}
export const NOT_SHOWN = 'the service took the key and does not show it yet'

interface Attempting {
  errand: Errand
  attempt: Attempt
}

export function beginAttempt(
  change: Transition,
  { fingerprint, offeredAtMs }: ReadyKey,
  errand: Errand,
): void {
  if (change.life.isDropping) return change.finish(errand, { isSettled: true })
  change.showRotation('holding', 'sends under way are waited for')
  const attempt: Attempt = {
    fingerprint,
    isNew: offeredAtMs === null,
    before: change.life.shown ?? null,
    puts: 0,
    accepted: 'unknown',
    error: null,
    wasLost: false,
    looks: 0,
    shown: undefined,
  }
  change.act({ step: 'holding', errand, attempt }, { kind: 'hold-sends' })
}

export const ATTEMPT_STEPS: Handlers<AttemptStep | 'promoting' | 'releasing'> = {
  holding: {
    done: (change, task) => {
      const { fingerprint, isNew } = task.attempt
      const isFirst = change.facts.firstPublishedAtMs === null
      const consequence = isFirst ? ': its private chats become encrypted for good' : ''
      change.log('info', { fingerprint }, `publishing the bot’s key${consequence}`)
      if (isNew) record(change, task, 'recording')
      else put(change, task)
    },
    failed: (change, { errand }, { error }) =>
      release(change, errand, change.life.isDropping ? { isSettled: true } : { error }),
  },
  recording: { done: put, failed: fail },
  putting: {
    done: (change, task) => confirm(change, task, { accepted: 'yes' }),
    failed: (change, task, { error }) => {
      const lost = { accepted: 'unknown', error, wasLost: true } as const
      confirm(change, task, isRefused(error) ? { accepted: 'no', error } : lost)
    },
    stopped: fail,
  },
  pausing: {
    done: (change, task) => change.act({ ...task, step: 'confirming' }, { kind: 'get-me' }),
    stopped: fail,
  },
  confirming: {
    shown: (change, task, { fingerprint: shown }) => {
      const { fingerprint, before } = task.attempt
      change.set({ shown })
      looked(change, task, shown, shown === fingerprint || shown !== before)
    },
    failed: (change, task, { error }) => looked(change, task, undefined, isRefused(error)),
    stopped: fail,
  },
  withdrawing: { done: conclude, failed: fail },
  promoting: {
    done: (change, { errand, attempt }) => {
      published(change)
      if (attempt === null) change.finish(errand, { isSettled: true })
      else release(change, errand, { isSettled: true })
    },
    failed: (change, { errand, attempt }, { error }) => {
      if (attempt === null) change.finish(errand, { error })
      else fail(change, { errand, attempt }, { error })
    },
  },
  releasing: {
    done: (change, { errand, ending }) => change.finish(errand, ending),
    failed: (change, { errand, ending }, { error }) =>
      change.finish(errand, 'error' in ending ? ending : { error }),
  },
}

/** The service shows the active key, which a rotation may have made that. */
export function published(change: Transition): void {
  const done = change.life.rotation.current
  change.report('done')
  endRotation(change, 'done')
  if (done !== null) change.log('info', { ...done }, 'the bot’s key is rotated')
  change.set({ accepted: null, remote: 'equal' })
  change.becomeShown()
}

function record(change: Transition, o: Attempting, step: 'recording' | 'withdrawing'): void {
  const { fingerprint } = o.attempt
  const isOffered = step === 'recording'
  change.act({ ...o, step }, { kind: 'record-offered', fingerprint, isOffered })
}

function put(change: Transition, { errand, attempt }: Attempting): void {
  change.showRotation('publishing', 'PUT /key')
  const next = { ...attempt, puts: attempt.puts + 1, looks: 0 }
  const { fingerprint } = attempt
  change.act({ step: 'putting', errand, attempt: next }, { kind: 'put-key', fingerprint })
}

function confirm(
  change: Transition,
  { errand, attempt }: Attempting,
  answer: Partial<Attempt>,
): void {
  change.showRotation('confirming', 'GET /me must show it')
  look(change, { errand, attempt: { ...attempt, ...answer } })
}

function look(change: Transition, { errand, attempt }: Attempting): void {
  const ms = PAUSES_MS[attempt.accepted][attempt.looks]
  if (ms === undefined) decide(change, { errand, attempt })
  else if (ms > 0) change.act({ step: 'pausing', errand, attempt }, { kind: 'pause', ms })
  else change.act({ step: 'confirming', errand, attempt }, { kind: 'get-me' })
}

function looked(
  change: Transition,
  { errand, attempt }: Attempting,
  shown: Attempt['shown'],
  isOver: boolean,
): void {
  const next = { errand, attempt: { ...attempt, looks: attempt.looks + 1, shown } }
  if (isOver) decide(change, next)
  else look(change, next)
}

/** `/me` shows the key, or something else than before, or is not asked again. */
function decide(change: Transition, o: Attempting): void {
  const { fingerprint, shown, before, accepted, puts, wasLost, isNew } = o.attempt
  if (shown === fingerprint) {
    return change.act({ ...o, step: 'promoting' }, { kind: 'promote', fingerprint })
  }
  if (accepted === 'unknown' && shown === before && puts < PUTS_MAX) return put(change, o)
  if (accepted !== 'yes' && !wasLost && isNew) return record(change, o, 'withdrawing')
  conclude(change, o)
}

/** The key is not confirmed. */
function conclude(change: Transition, { errand, attempt }: Attempting): void {
  const { fingerprint, before, accepted, wasLost, error, shown } = attempt
  if (accepted === 'yes') {
    change.report('unconfirmed')
    change.set({ accepted: { before, atMs: change.facts.monotonicMs } })
    change.become('unpublished', NOT_SHOWN)
    change.showRotation('confirming', NOT_SHOWN)
    return release(change, errand, { isSettled: false })
  }
  change.set({ accepted: null })
  const outcome = wasLost ? 'unanswered' : 'refused'
  const code = codeOf(error)
  change.report(outcome)
  pauseRotation(change, `${FAILED[outcome]}: ${code}`, retryAfterMs(error))
  change.log('warn', { fingerprint, code }, 'the key could not be published')
  const isOldShown = shown != null && shown === change.active?.fingerprint
  if (isOldShown) change.becomeShown()
  else change.become('unpublished', `waiting to publish: ${code}`)
  release(change, errand, isOldShown && errand === 'compare' ? { isSettled: true } : { error })
}

/** Nothing more is known of the key at the service. */
function fail(
  change: Transition,
  { errand, attempt }: Attempting,
  { error }: { error: unknown },
): void {
  const detail = codeOf(error)
  const key = change.facts.keys.find(({ fingerprint }) => fingerprint === attempt.fingerprint)
  if (key?.offeredAtMs != null) change.become('unpublished', detail)
  pauseRotation(change, detail)
  release(change, errand, { error })
}

function release(change: Transition, errand: Errand, ending: Ending): void {
  change.act({ step: 'releasing', errand, ending }, { kind: 'release-sends' })
}
