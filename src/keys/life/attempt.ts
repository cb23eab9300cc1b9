/** One attempt at publishing a key: hold sends, record, publish, confirm by `/me`, promote. */
import { afterAttempt, type Attempt, type ReadyKey } from '../../kernel/index.ts'
import { codeOf, isRefused, retryAfterMs, type Transition, type Handlers } from './transition.ts'
import type { AttemptStep, Ending } from './life.ts'
import { endRotation, pauseRotation } from './rotation.ts'

/** Pauses before each `GET /me`, in ms: a service may show a key later than it accepts it. */
const PAUSES_MS = {
  yes: [0, 250, 500, 1000, 2000, 4000, 4000, 4000],
  unknown: [0, 500, 1500],
  no: [0],
}

/** For operators, of an attempt that failed. */
const FAILED = { refused: 'the service refused it', unanswered: 'the service may have taken it' }
export const NOT_SHOWN = 'the service took the key and does not show it yet'

export function beginAttempt(change: Transition, { fingerprint, offeredAtMs }: ReadyKey): void {
  if (change.life.isDropping) return change.finish({ isSettled: true })
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
  change.act({ step: 'holding', attempt }, { kind: 'hold-sends' })
}

export const ATTEMPT_STEPS: Handlers<AttemptStep | 'promoting' | 'releasing'> = {
  holding: {
    done: (change, { attempt }) => {
      const { fingerprint, isNew } = attempt
      const isFirst = change.facts.firstPublishedAtMs === null
      const consequence = isFirst ? ': its private chats become encrypted for good' : ''
      change.log('info', { fingerprint }, `publishing the bot’s key${consequence}`)
      if (isNew) record(change, attempt, 'recording')
      else put(change, { attempt })
    },
    failed: (change, _task, { error }) =>
      release(change, change.life.isDropping ? { isSettled: true } : { error }),
  },
  recording: { done: put, failed: fail },
  putting: {
    done: (change, { attempt }) => confirm(change, { ...attempt, accepted: 'yes' }),
    failed: (change, { attempt }, { error }) => {
      const answer = isRefused(error)
        ? ({ accepted: 'no' } as const)
        : ({ accepted: 'unknown', wasLost: true } as const)
      confirm(change, { ...attempt, error, ...answer })
    },
    stopped: fail,
  },
  pausing: {
    done: (change, { attempt }) => change.act({ step: 'confirming', attempt }, { kind: 'get-me' }),
    stopped: fail,
  },
  confirming: {
    shown: (change, { attempt }, { fingerprint: shown }) => {
      change.set({ shown })
      const isOver = shown === attempt.fingerprint || shown !== attempt.before
      looked(change, { ...attempt, shown }, isOver)
    },
    failed: (change, { attempt }, { error }) =>
      looked(change, { ...attempt, shown: undefined }, isRefused(error)),
    stopped: fail,
  },
  withdrawing: { done: conclude, failed: fail },
  promoting: {
    done: (change, { attempt }) => {
      published(change)
      if (attempt === null) change.finish({ isSettled: true })
      else release(change, { isSettled: true })
    },
    failed: (change, { attempt }, { error }) => {
      if (attempt === null) change.finish({ error })
      else fail(change, { attempt }, { error })
    },
  },
  releasing: {
    done: (change, { ending }) => change.finish(ending),
    failed: (change, { ending }, { error }) =>
      change.finish('error' in ending ? ending : { error }),
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

function record(change: Transition, attempt: Attempt, step: 'recording' | 'withdrawing'): void {
  const { fingerprint } = attempt
  const isOffered = step === 'recording'
  change.act({ step, attempt }, { kind: 'record-offered', fingerprint, isOffered })
}

function put(change: Transition, { attempt }: { attempt: Attempt }): void {
  change.showRotation('publishing', 'PUT /key')
  const next = { ...attempt, puts: attempt.puts + 1, looks: 0 }
  const { fingerprint } = attempt
  change.act({ step: 'putting', attempt: next }, { kind: 'put-key', fingerprint })
}

function confirm(change: Transition, attempt: Attempt): void {
  change.showRotation('confirming', 'GET /me must show it')
  look(change, attempt)
}

function look(change: Transition, attempt: Attempt): void {
  const ms = PAUSES_MS[attempt.accepted][attempt.looks]
  if (ms === undefined) decide(change, attempt)
  else if (ms > 0) change.act({ step: 'pausing', attempt }, { kind: 'pause', ms })
  else change.act({ step: 'confirming', attempt }, { kind: 'get-me' })
}

function looked(change: Transition, attempt: Attempt, isOver: boolean): void {
  const next = { ...attempt, looks: attempt.looks + 1 }
  if (isOver) decide(change, next)
  else look(change, next)
}

function decide(change: Transition, attempt: Attempt): void {
  const { fingerprint } = attempt
  const next = afterAttempt(attempt)
  if (next === 'put') put(change, { attempt })
  else if (next === 'withdraw') record(change, attempt, 'withdrawing')
  else if (next === 'conclude') conclude(change, { attempt })
  else change.act({ step: 'promoting', attempt }, { kind: 'promote', fingerprint })
}

/** The key is not confirmed. */
function conclude(change: Transition, { attempt }: { attempt: Attempt }): void {
  const { fingerprint, before, accepted, wasLost, error, shown } = attempt
  if (accepted === 'yes') {
    change.report('unconfirmed')
    change.set({ accepted: { before, atMs: change.facts.monotonicMs } })
    change.become('unpublished', NOT_SHOWN)
    change.showRotation('confirming', NOT_SHOWN)
    return release(change, { isSettled: false })
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
  const isDone = isOldShown && change.errand === 'compare'
  release(change, isDone ? { isSettled: true } : { error })
}

/** Nothing more is known of the key at the service. */
function fail(
  change: Transition,
  { attempt }: { attempt: Attempt },
  { error }: { error: unknown },
): void {
  const detail = codeOf(error)
  const key = change.facts.keys.find(({ fingerprint }) => fingerprint === attempt.fingerprint)
  if (key?.offeredAtMs != null) change.become('unpublished', detail)
  pauseRotation(change, detail)
  release(change, { error })
}

const release = (change: Transition, ending: Ending): void =>
  change.act({ step: 'releasing', ending }, { kind: 'release-sends' })
