/**
 * The life of the bot's key: each event makes another life and effects, and nothing else happens
 * here. README.md has the table of the steps.
 */
import { Refusal, refusedError, type OwnCode } from '../../errors.ts'
import { AFTER_ME, commandRefusal, remoteKeyStateOf } from '../../kernel/index.ts'
import type { Facts, PublicationState, RemoteKeyState } from '../../kernel/index.ts'
import { ANY_TIME } from './any-time.ts'
import { ATTEMPT_STEPS, beginAttempt, NOT_SHOWN, published } from './attempt.ts'
import { Transition, type Handlers } from './transition.ts'
import { abandon, abort, make, NEW_KEY_STEPS } from './new-key.ts'
import type { ActionResult, Effect, Errand, KeyEvent, KeyLife, Step } from './life.ts'
import { hurryRotation, pauseMsOf } from './rotation.ts'

/** How long `/me` may lag behind an accepted publication before it is made again. */
const LAG_MAX_MS = 300_000

/** For operators, of what the service shows in place of the active key. */
const DETAILS = {
  foreign: 'the service shows a key that is not ours',
  none: 'the service shows no key for the bot',
  older: 'the service shows an older key of ours',
  first: 'the key is being published',
  pending: '',
}

/**
 * One transition. At most one effect is an action, the last; its result is another event.
 * @throws Error for an event that the step of the life does not have
 */
export function advance(
  life: KeyLife,
  event: KeyEvent,
  facts: Facts,
): { life: KeyLife; effects: Effect[] } {
  const change = new Transition(life, facts)
  if (event.kind === 'asked') begin(change, event)
  else if (!(event.kind in ANY_TIME)) goOn(change, event as ActionResult)
  else ANY_TIME[event.kind as keyof typeof ANY_TIME](change, event as never)
  return { life: change.life, effects: change.effects }
}

/** What each step does on the results of its action; without `stopped`, as on `failed`. */
const STEPS: Handlers<Step> = {
  idle: {},
  reading: {
    shown: (change, _task, { fingerprint: shown }) => {
      change.set({ shown })
      // another sidecar may have made and published it since the last time
      change.act({ step: 'refreshing' }, { kind: 'refresh-keys' })
    },
    failed: abort,
  },
  refreshing: {
    done: (change, { errand }) => {
      const remote = remoteKeyStateOf(change.life.shown ?? null, change.facts)
      change.set({ remote })
      ERRANDS[errand](change, remote)
    },
    failed: abort,
  },
  ...NEW_KEY_STEPS,
  ...ATTEMPT_STEPS,
}

const ERRANDS: Record<Errand, (change: Transition, remote: RemoteKeyState) => void> = {
  compare,
  observe: (change, remote) => {
    const { state } = AFTER_ME[remote](change.facts, { attempt: false, rotation: false })
    if (state !== null && state !== 'unpublished') becomeAfterMe(change, state, remote)
    change.finish({ isSettled: remote === 'equal' })
  },
  publish: (change, remote) =>
    obey(change, commandRefusal('publish', remote, change.facts), publish),
  replace: publish,
  rotate: (change, remote) => obey(change, commandRefusal('rotate', remote, change.facts), make),
  'make-first': make,
  report: (change) => change.finish({ isSettled: true }),
  abandon: (change) => change.finish({ isSettled: true }),
}

function obey(change: Transition, refused: OwnCode | null, act: (one: Transition) => void): void {
  if (refused === null) act(change)
  else change.finish({ error: new Refusal(refused) })
}

function begin(change: Transition, { errand, sinceMs = 0 }: { errand: Errand; sinceMs?: number }) {
  const { task, rotation } = change.life
  if (task.step !== 'idle') throw new Error(`a task is under way: ${task.step}`)
  if (errand === 'abandon') return abandon(change)
  if (errand === 'rotate' && (rotation.current !== null || rotation.endedAtMs >= sinceMs)) {
    return change.finish({ isSettled: true }, errand)
  }
  const known = change.newest
  if (errand === 'make-first' && known !== undefined) {
    const message = `there is a key already, and it is ${known.state}: ${known.fingerprint}`
    const hint = '`postern key rotate` puts a new one in the place of a published one'
    return change.finish({ error: refusedError(message, hint) }, errand)
  }
  if (errand === 'compare' || errand === 'observe') change.set({ isUnanswered: false })
  change.act({ step: 'reading' }, { kind: 'get-me' }, errand)
}

function goOn(change: Transition, result: ActionResult): void {
  const { task } = change.life
  const kinds = STEPS[task.step] as Record<string, ((...o: unknown[]) => void) | undefined>
  const handle = kinds[result.kind] ?? (result.kind === 'stopped' ? kinds['failed'] : undefined)
  if (handle === undefined) throw new Error(`${task.step} has no ${result.kind}`)
  handle(change, task, result)
}

function compare(change: Transition, remote: RemoteKeyState): void {
  if (isLagging(change)) {
    change.become('unpublished', NOT_SHOWN)
    return change.finish({ isSettled: false })
  }
  const { rotateEveryMs } = change.life
  const publishedAtMs = change.active?.publishedAtMs ?? Infinity
  const isOld = rotateEveryMs !== null && change.facts.nowMs - publishedAtMs >= rotateEveryMs
  const isDue = { attempt: pauseMsOf(change) === 0, rotation: isOld }
  const { state, next } = AFTER_ME[remote](change.facts, isDue)
  if (state !== null) becomeAfterMe(change, state, remote)
  if (remote === 'foreign' || remote === 'none') hurryRotation(change, 'waiting', DETAILS[remote])
  const key = change.newest
  if (next === 'confirm') confirmShown(change)
  else if (next === 'make') make(change)
  else if (next === 'publish' && key !== undefined) beginAttempt(change, key)
  else change.finish({ isSettled: remote === 'equal' })
}

function becomeAfterMe(change: Transition, state: PublicationState, remote: RemoteKeyState): void {
  if (remote === 'equal') return change.becomeShown()
  const isForeign = state === 'conflict'
  change.become(state, isForeign ? `the service lists ${change.life.shown}` : DETAILS[remote])
}

/** Whether the service accepted a publication recently, and `/me` may not show it yet. */
function isLagging(change: Transition): boolean {
  const { accepted, shown } = change.life
  if (accepted === null) return false
  const isRecent = change.facts.monotonicMs - accepted.atMs < LAG_MAX_MS
  if (shown === accepted.before && isRecent) return true
  change.set({ accepted: null })
  return false
}

function publish(change: Transition): void {
  const key = change.newest
  if (key === undefined) make(change)
  else if (change.life.shown === key.fingerprint) confirmShown(change)
  else beginAttempt(change, key)
}

/** The service shows our newest key: it is the active one. */
function confirmShown(change: Transition): void {
  if (change.pending === undefined) {
    published(change)
    return change.finish({ isSettled: true })
  }
  const { fingerprint } = change.pending
  change.act({ step: 'promoting', attempt: null }, { kind: 'promote', fingerprint })
}
