/**
 * Every life that the bot's key can have: sidecars over one disk and one service, any of which may
 * crash before or after any action, while the service refuses, loses answers and lags.
 */
import { NoResponseError, Refusal } from '../../../src/errors.ts'
import {
  beginLife,
  type Action,
  type ActionResult,
  type Effect,
  type Errand,
  type KeyEvent,
  type KeyLife,
} from '../../../src/keys/life/life.ts'
import type { Facts } from '../../../src/kernel/own-key/key-state.ts'
import { advance } from '../../../src/keys/life/machine.ts'
import type { OwnKeyRecord } from '../../../src/kernel/own-key/own-key.ts'
import { keyOf, pendingKey } from '../publication-scene.ts'
import { serviceError } from '../support.ts'

/** A process with the bot's keys. */
export interface Sidecar {
  life: KeyLife
  /** The keys as it last read them. */
  keys: OwnKeyRecord[]
  /** The next action of its task. */
  action: Action | null
  /** It lets no send of its own enter. */
  isGateClosed: boolean
}

export interface World {
  disk: OwnKeyRecord[]
  firstPublishedAtMs: number | null
  /** What `/me` shows, and the key that it will show after a lag. */
  shown: string | null
  lagging: string | null
  /** Fingerprints that the service was ever given. */
  given: string[]
  sidecars: Sidecar[]
  /** Which sidecar has the turn, and which keeps the sends of the others out; -1: one that died. */
  turn: number | null
  raisedBy: number | null
  made: number
  /** Somebody else put or removed a key. */
  isMeddled: boolean
  /** The service showed a key later than it accepted it. */
  isLate: boolean
  nowMs: number
  /** How it came here. */
  path: string[]
}

/** A transition that was seen, for the table of the README. */
export interface Seen {
  step: string
  action: string
  result: string
  next: string
}

export const HOUR_MS = 3_600_000
const LOST = new NoResponseError('postern_upstream_unreachable', 'cut')
const REFUSED = serviceError(409)
const UNWRITABLE = new Refusal('postern_store_unwritable')
const ACTIONS = new Set<string>([
  'get-me',
  'refresh-keys',
  'make-key',
  'hold-sends',
  'release-sends',
  'record-offered',
  'put-key',
  'pause',
  'promote',
  'discard',
] satisfies Action['kind'][])

export const factsOf = (world: World, { keys }: Pick<Sidecar, 'keys'>): Facts => ({
  keys,
  firstPublishedAtMs: world.firstPublishedAtMs,
  nowMs: world.nowMs,
  monotonicMs: world.nowMs,
  isClockBehind: false,
})

const startOf = (world: World): Sidecar => {
  const keys = world.disk
  const facts = factsOf(world, { keys })
  const { life } = advance(beginLife(facts, null), { kind: 'key-found', detail: '' }, facts)
  return { life, keys, action: null, isGateClosed: false }
}

const OLDER = keyOf('older', { state: 'retired', createdAtMs: -2 })

/** @param o `isPublished`: the bot has a key already, which the service shows, and had one before */
export function beginWorld(sidecars: number, { isPublished }: { isPublished: boolean }): World {
  const world: World = {
    disk: isPublished ? [keyOf('key0', { createdAtMs: -1 }), OLDER] : [],
    firstPublishedAtMs: isPublished ? 1 : null,
    shown: isPublished ? 'key0' : null,
    lagging: null,
    given: [],
    sidecars: [],
    turn: null,
    raisedBy: null,
    made: 0,
    isMeddled: false,
    isLate: false,
    nowMs: HOUR_MS,
    path: [],
  }
  return { ...world, sidecars: Array.from({ length: sidecars }, () => startOf(world)) }
}

const isAction = (effect: Effect): effect is Action => ACTIONS.has(effect.kind)

/** Hands an event to a sidecar. */
export function apply(world: World, n: number, event: KeyEvent, seen?: (one: Seen) => void): World {
  const sidecar = world.sidecars[n]!
  const { life, effects } = advance(sidecar.life, event, factsOf(world, sidecar))
  const actions = effects.filter(isAction)
  if (actions.length > 1) throw new Error('two actions at once')
  const isOfTask = sidecar.action !== null || event.kind === 'asked'
  const action = actions[0] ?? (life.task.step === 'idle' ? null : sidecar.action)
  if (seen !== undefined && isOfTask) {
    seen({
      step: sidecar.life.task.step,
      action: sidecar.action?.kind ?? '',
      result: event.kind,
      next: life.task.step,
    })
  }
  const isGateClosed = sidecar.isGateClosed && !effects.some(({ kind }) => kind === 'open-gate')
  const after = { ...sidecar, life, action, isGateClosed }
  const isOver = life.task.step === 'idle'
  const { turn, raisedBy } = world
  const hadTurn = turn === n && isOver && sidecar.life.task.step !== 'idle'
  // a turn that ends well takes back the fence of one that died
  const isWell = effects.some((one) => one.kind === 'ended' && 'isSettled' in one)
  return {
    ...world,
    sidecars: world.sidecars.map((one, at) => (at === n ? after : one)),
    turn: hadTurn ? null : turn,
    raisedBy: hadTurn && isWell && raisedBy !== null ? null : raisedBy,
  }
}

type Outcome = [name: string, after: World, result: ActionResult]

const DONE = { kind: 'done' } as const
const failing = (error: unknown): ActionResult => ({ kind: 'failed', error })

/** What an action does to the world, and its result; each way in which it can end. */
// oxlint-disable-next-line typescript/consistent-return -- every kind is there
export function outcomes(world: World, n: number, action: Action): Outcome[] {
  const own = (change: Partial<Sidecar>, more: Partial<World>): World => ({
    ...world,
    ...more,
    sidecars: world.sidecars.map((one, at) => (at === n ? { ...one, ...change } : one)),
  })
  switch (action.kind) {
    case 'get-me':
      return [
        ['shown', world, { kind: 'shown', fingerprint: world.shown }],
        ['refused', world, failing(REFUSED)],
        ['lost', world, failing(LOST)],
      ]
    case 'refresh-keys':
      return [['ok', reread(world, n), DONE]]
    case 'pause':
      return [['ok', world, DONE]]
    case 'hold-sends':
      return [
        ['ok', own({ isGateClosed: true }, { raisedBy: n }), DONE],
        ['unwritable', own({ isGateClosed: true }, {}), failing(UNWRITABLE)],
      ]
    case 'release-sends': {
      const raisedBy = world.raisedBy === n ? null : world.raisedBy
      return [['ok', own({ isGateClosed: false }, { raisedBy }), DONE]]
    }
    case 'put-key':
      return puts(world, action.fingerprint)
    case 'make-key':
    case 'record-offered':
    case 'promote':
    case 'discard': {
      const change = written(world, action)
      if (change === null) return [['refused', world, failing(REFUSED)]]
      return [
        ['ok', own({ keys: change.disk }, change), DONE],
        ['unwritable', world, failing(UNWRITABLE)],
      ]
    }
  }
}

function puts(world: World, fingerprint: string): Outcome[] {
  const given = [...new Set([...world.given, fingerprint])]
  const accepted = { ...world, given, shown: fingerprint, lagging: null }
  return [
    ['accepted', accepted, DONE],
    ['accepted later', { ...world, given, lagging: fingerprint }, DONE],
    ['accepted, answer lost', accepted, failing(LOST)],
    ['lost', world, failing(LOST)],
    ['refused', world, failing(REFUSED)],
  ]
}

type Write = Extract<Action, { kind: 'make-key' | 'record-offered' | 'promote' | 'discard' }>

/** What a write changes on disk; null where it is refused. */
function written(world: World, action: Write): (Partial<World> & Pick<World, 'disk'>) | null {
  if (action.kind === 'make-key') {
    const key = pendingKey(`key${world.made + 1}`, { createdAtMs: world.made })
    return { disk: [key, ...world.disk], made: world.made + 1 }
  }
  const { disk } = world
  const key = disk.find(({ fingerprint }) => fingerprint === action.fingerprint)
  if (action.kind === 'record-offered') {
    return { disk: withKey(disk, key, { offeredAtMs: action.isOffered ? 1 : null }) }
  }
  if (action.kind === 'discard') {
    const isDiscarded = key?.state === 'pending' && key.offeredAtMs === null
    return isDiscarded ? { disk: disk.filter((one) => one !== key) } : null
  }
  if (key?.state !== 'pending' && key?.state !== 'active') return { disk }
  const before = disk.find(({ state }) => state === 'active')
  const retired = before === key ? disk : withKey(disk, before, { state: 'retired' })
  const firstPublishedAtMs = world.firstPublishedAtMs ?? 1
  return { disk: withKey(retired, key, { state: 'active', publishedAtMs: 1 }), firstPublishedAtMs }
}

const withKey = (
  disk: OwnKeyRecord[],
  key: OwnKeyRecord | undefined,
  change: Partial<OwnKeyRecord>,
): OwnKeyRecord[] => disk.map((one) => (one === key ? { ...one, ...change } : one))

export interface Moves {
  keysMax: number
  errands: readonly Errand[]
  /** Somebody else puts and removes keys. */
  isMeddling: boolean
}

/** Every world that one move leads to. */
export function next(world: World, moves: Moves, seen: (one: Seen) => void): World[] {
  const worlds: World[] = []
  const add = (name: string, after: World): void => {
    worlds.push({ ...after, path: [...world.path, name] })
  }
  world.sidecars.forEach((sidecar, n) => {
    const { action, life } = sidecar
    if (action === null) {
      for (const errand of moves.errands) {
        const needsKey = errand === 'rotate' || errand === 'make-first' || world.disk.length === 0
        if (needsKey && world.made >= moves.keysMax) continue
        if (errand === 'observe' ? world.turn === null : world.turn !== null) continue
        const asked = errand === 'observe' ? world : { ...reread(world, n), turn: n }
        const dropped =
          errand === 'abandon' ? apply(asked, n, { kind: 'dropping', isOn: true }) : asked
        const begun = apply(dropped, n, { kind: 'asked', errand, sinceMs: world.nowMs + 1 }, seen)
        add(
          `${n}: ${errand}`,
          begun.sidecars[n]?.action === null ? { ...begun, turn: null } : begun,
        )
      }
    } else {
      for (const [name, after, result] of outcomes(world, n, action)) {
        add(`${n}: ${action.kind} ${name}`, apply(after, n, result, seen))
        // it crashes when the effect was had, before it is known
        if (after !== world) add(`${n}: ${action.kind} ${name}, crash`, crash(after, n))
      }
      add(`${n}: ${action.kind} stopped`, apply(world, n, stoppedBefore(action), seen))
      add(`${n}: crash before ${action.kind}`, crash(world, n))
      if (sidecar.isGateClosed) add(`${n}: overrun`, apply(world, n, { kind: 'hold-overrun' }))
      if (action.kind === 'hold-sends') {
        const dropped = apply(world, n, { kind: 'dropping', isOn: true })
        if (dropped.sidecars[n]?.life.isDropping === true) {
          add(`${n}: dropped`, apply(dropped, n, { kind: 'failed', error: 'dropped' }, seen))
        }
      }
    }
    if (sidecar.keys !== world.disk) add(`${n}: reread`, reread(world, n))
    if (life.rotation.current !== null)
      add(`${n}: joined`, apply(world, n, { kind: 'rotation-joined' }))
  })
  if (world.lagging !== null)
    add('shown', { ...world, shown: world.lagging, lagging: null, isLate: true })
  if (moves.isMeddling && !world.isMeddled) {
    add('foreign', { ...world, shown: 'theirs', lagging: null, isMeddled: true })
    const older = world.disk.findLast(({ state }) => state === 'retired')?.fingerprint
    if (older !== undefined) add('older', { ...world, shown: older, isMeddled: true })
    if (world.shown !== null) add('removed', { ...world, shown: null, isMeddled: true })
  }
  return worlds
}

const stoppedBefore = (action: Action): ActionResult =>
  ['get-me', 'put-key', 'pause', 'hold-sends'].includes(action.kind)
    ? { kind: 'stopped', error: 'stopped' }
    : { kind: 'failed', error: UNWRITABLE }

/** A sidecar reads what others made of the keys. */
export function reread(world: World, n: number): World {
  if (world.sidecars[n]?.keys === world.disk) return world
  const sidecars = world.sidecars.map((one, at) => (at === n ? { ...one, keys: world.disk } : one))
  return apply({ ...world, sidecars }, n, { kind: 'keys-changed' })
}

/** A process dies and another begins in its place; its locks are free, and its fence stays closed. */
export function crash(world: World, n: number): World {
  const sidecars = world.sidecars.map((one, at) => (at === n ? startOf(world) : one))
  const turn = world.turn === n ? null : world.turn
  return { ...world, sidecars, turn, raisedBy: world.raisedBy === n ? -1 : world.raisedBy }
}

/** A world without the parts that make no difference to later worlds. */
export function identityOf(world: World): string {
  const { path: _path, nowMs: _nowMs, sidecars, ...rest } = world
  return JSON.stringify([
    rest,
    sidecars.map(({ life, action, isGateClosed, keys }) => {
      const { rotation, retryMs: _r, failedWith: _f, isUnanswered: _u, ...more } = life
      const { current, nextAtMs } = rotation
      const under = current === null ? null : [current.to, nextAtMs > world.nowMs]
      return [more, under, action, isGateClosed, keys === world.disk ? 0 : keys]
    }),
  ])
}
