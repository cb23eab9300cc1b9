/** Which key of the bot's may be made, published, signed with or discarded; `keys/life` acts by it. */
import type { OwnCode } from '../../errors.ts'
import { readyKey, stateWhileShown } from './key-state.ts'
import type { Facts, PublicationState, RemoteKeyState } from './key-state.ts'
import type { ReadyKey } from './own-key.ts'

/** The only key of ours that may be published: a retired one never is again. */
export const publishableKey = ({ keys }: Facts): ReadyKey | undefined =>
  readyKey(keys, 'pending') ?? readyKey(keys, 'active')

/** A key that the service may know is never discarded. */
export const mayDiscard = ({ offeredAtMs }: ReadyKey): boolean => offeredAtMs === null

/** Whether another attempt of a rotation is due, and another rotation. */
type Due = Record<'attempt' | 'rotation', boolean>

/** `state` null: it stays. `confirm`: the pending key is shown, and signs from now on. */
type AfterMe = { state: PublicationState | null; next: 'confirm' | 'publish' | 'make' | 'nothing' }

/**
 * What follows from a comparison with `/me`: makes no second key while one waits, replaces none that
 * is not ours, and restores none that was removed.
 */
export const AFTER_ME: Record<RemoteKeyState, (facts: Facts, isDue: Due) => AfterMe> = {
  pending: () => ({ state: null, next: 'confirm' }),
  foreign: () => ({ state: 'conflict', next: 'nothing' }),
  none: () => ({ state: 'unprotected', next: 'nothing' }),
  equal: (facts, isDue) => {
    const hasPending = readyKey(facts.keys, 'pending') !== undefined
    if (hasPending && isDue.attempt) return { state: null, next: 'publish' }
    const isMade = !hasPending && isDue.rotation
    return { state: stateWhileShown(facts), next: isMade ? 'make' : 'nothing' }
  },
  older: (facts) => {
    const hasKey = publishableKey(facts) !== undefined
    return { state: 'unpublished', next: hasKey ? 'publish' : 'nothing' }
  },
  first: ({ keys }) => {
    const hasPending = readyKey(keys, 'pending') !== undefined
    return { state: 'unpublished', next: hasPending ? 'publish' : 'make' }
  },
}

/** Why a command of the operator publishes or makes no key; null where it may. `replace` always may. */
export function commandRefusal(
  command: 'publish' | 'rotate',
  remote: RemoteKeyState,
  { keys }: Facts,
): OwnCode | null {
  if (remote === 'foreign') return 'postern_key_conflict'
  if (command === 'publish') return null
  if (remote === 'none') return 'postern_bot_unprotected'
  const isOurs = remote === 'equal' && readyKey(keys, 'pending') === undefined
  return isOurs ? null : 'postern_key_unpublished'
}

/** The publication of a key, while sends are held. */
export interface Attempt {
  fingerprint: string
  /** The service cannot have known the key before. */
  isNew: boolean
  /** The fingerprint that `/me` showed before; null for none. */
  before: string | null
  /** The number of `PUT /key`, and whether the service accepted the last. */
  puts: number
  accepted: 'yes' | 'no' | 'unknown'
  /** The error of the last `PUT /key`. */
  error: unknown
  /** The answer to one of them was lost. */
  wasLost: boolean
  /** The number of `GET /me` after the last `PUT /key`, and its fingerprint; undefined: it failed. */
  looks: number
  shown: string | null | undefined
}

/** After a lost answer the same key is published once more. */
export const PUTS_MAX = 2

/**
 * What follows once `/me` shows the key, or something else than before, or is not asked again: the key
 * signs only once it is shown, and stays on record where the service may know it.
 */
export function afterAttempt(attempt: Attempt): 'promote' | 'put' | 'withdraw' | 'conclude' {
  const { fingerprint, shown, before, accepted, puts, wasLost, isNew } = attempt
  if (shown === fingerprint) return 'promote'
  if (accepted === 'unknown' && shown === before && puts < PUTS_MAX) return 'put'
  return accepted !== 'yes' && !wasLost && isNew ? 'withdraw' : 'conclude'
}
