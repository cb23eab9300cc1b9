/** What the service shows against what we hold (DESIGN: Keys). */
import type { Bot } from '../api/bot.ts'
import type { Keyring } from './keyring.ts'

/**
 * `equal`: the active key is shown. `pending`: the one that waits for its publication. `older`:
 * one that was ours before. `foreign`: one that never was. `none`: none, although we had published.
 * `first`: none, and we never had.
 */
export type Situation = 'equal' | 'pending' | 'older' | 'foreign' | 'none' | 'first'

/** The fingerprint that `/me` claims, in lower case, or null for an open bot. */
export function fingerprintOf(bot: Bot): string | null {
  return bot.fingerprint == null || bot.fingerprint === '' ? null : bot.fingerprint.toLowerCase()
}

const BY_STATE = {
  active: 'equal',
  pending: 'pending',
  retired: 'older',
  destroyed: 'older',
} as const

/** @param shown the fingerprint that `/me` claims, lower case */
export function situationOf(shown: string | null, keyring: Keyring): Situation {
  if (shown === null) return keyring.firstPublishedAtMs === null ? 'first' : 'none'
  const own = keyring.find(shown)
  return own === undefined ? 'foreign' : BY_STATE[own.state]
}
