/** Whether the bot's key is published, by the keys on disk and what `/me` shows. */
import { Refusal, type OwnCode } from '../../errors.ts'
import { isExpired, isReady, type OwnKeyRecord, type ReadyKey } from './own-key.ts'

/**
 * `/me` shows the key (`published`), not yet (`unpublished`), a key that is not ours (`conflict`), our
 * key after its end (`expired`), or none after a publication (`unprotected`).
 */
export type PublicationState = 'published' | 'unpublished' | 'conflict' | 'expired' | 'unprotected'

/**
 * The key that `/me` shows: the active one (`equal`), the `pending` one, an `older` one
 * of ours, a `foreign` one, `none` after a publication, or none before the `first`.
 */
export type RemoteKeyState = 'equal' | 'pending' | 'older' | 'foreign' | 'none' | 'first'

/** The keys on disk, and the time, at the moment of an event. */
export interface Facts {
  /** Newest first. */
  keys: readonly OwnKeyRecord[]
  firstPublishedAtMs: number | null
  /** As in `Time`. */
  nowMs: number
  monotonicMs: number
  /** Whether `nowMs` is certainly past. */
  isClockBehind: boolean
}

const REFUSED: Record<Exclude<PublicationState, 'published'>, OwnCode> = {
  unpublished: 'postern_key_unpublished',
  conflict: 'postern_key_conflict',
  expired: 'postern_key_expired',
  unprotected: 'postern_bot_unprotected',
}

/** The state before the first `/me`: with a pending key, nothing counts as published. */
export function stateAtStart({ keys }: Pick<Facts, 'keys'>): 'published' | 'unpublished' {
  const isPublished =
    readyKey(keys, 'active') !== undefined && readyKey(keys, 'pending') === undefined
  return isPublished ? 'published' : 'unpublished'
}

/** The key to sign with. @throws Refusal naming why nothing can be sealed now */
export function requirePublished(
  { publication }: { publication: PublicationState },
  facts: Facts,
): ReadyKey {
  if (publication !== 'published') throw new Refusal(REFUSED[publication])
  const active = readyKey(facts.keys, 'active')
  if (active === undefined) throw new Refusal('postern_key_unpublished')
  if (isExpired(active, facts.nowMs)) throw new Refusal('postern_key_expired')
  if (facts.isClockBehind) throw new Refusal('postern_clock_wrong')
  return active
}

/** The key that is published and signs (`active`), or that waits for its publication. */
export function readyKey(keys: Facts['keys'], state: 'active' | 'pending'): ReadyKey | undefined {
  const key = keys.find((one) => one.state === state)
  return isReady(key) ? key : undefined
}

/** The state while the service shows the active key. */
export function stateWhileShown({ keys, nowMs }: Facts): 'published' | 'expired' {
  const active = readyKey(keys, 'active')
  return active !== undefined && isExpired(active, nowMs) ? 'expired' : 'published'
}

const BY_STATE = {
  active: 'equal',
  pending: 'pending',
  retired: 'older',
  destroyed: 'older',
} as const

/** @param shown the fingerprint in `/me`, lower case */
export function remoteKeyStateOf(
  shown: string | null,
  { keys, firstPublishedAtMs }: Pick<Facts, 'keys' | 'firstPublishedAtMs'>,
): RemoteKeyState {
  if (shown === null) return firstPublishedAtMs === null ? 'first' : 'none'
  const own = keys.find(({ fingerprint }) => fingerprint === shown)
  return own === undefined ? 'foreign' : BY_STATE[own.state]
}
