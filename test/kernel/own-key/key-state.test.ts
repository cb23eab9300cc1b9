import { expect, test } from 'vitest'
import {
  remoteKeyStateOf,
  requirePublished,
  stateWhileShown,
  type PublicationState,
} from '../../../src/kernel/own-key/key-state.ts'
import { factsOf, keyOf } from '../../keys/publication-scene.ts'

const KEY = keyOf('ours')
const NOW_MS = 1_000_000
const FACTS = factsOf([KEY])
const refusing = (code: string): unknown => expect.objectContaining({ code })

test.each<[PublicationState, string]>([
  ['unpublished', 'postern_key_unpublished'],
  ['conflict', 'postern_key_conflict'],
  ['expired', 'postern_key_expired'],
  ['unprotected', 'postern_bot_unprotected'],
])('`requirePublished` refuses to sign while the key is %s', (state, code) => {
  expect(() => requirePublished({ publication: state }, FACTS)).toThrow(refusing(code))
})

test('`requirePublished` gives the published key until it expires, and refuses without one', () => {
  const ending = factsOf([{ ...KEY, endsMs: NOW_MS + 1 }])
  expect(requirePublished({ publication: 'published' }, ending)).toBe(ending.keys[0])
  const over = { ...ending, nowMs: NOW_MS + 1 }
  expect(() => requirePublished({ publication: 'published' }, over)).toThrow(
    refusing('postern_key_expired'),
  )
  const none = factsOf([])
  expect(() => requirePublished({ publication: 'published' }, none)).toThrow(
    refusing('postern_key_unpublished'),
  )
})

test('`requirePublished` refuses while our clock is behind the making of the key', () => {
  const behind = { ...FACTS, isClockBehind: true }
  expect(() => requirePublished({ publication: 'published' }, behind)).toThrow(
    refusing('postern_clock_wrong'),
  )
  expect(requirePublished({ publication: 'published' }, FACTS)).toBe(KEY)
})

test('the state of a shown key is expired once its end is past', () => {
  const states = [factsOf([]), FACTS, factsOf([{ ...KEY, endsMs: NOW_MS }])].map(stateWhileShown)
  expect(states).toEqual(['published', 'published', 'expired'])
})

test('`remoteKeyStateOf` classifies the fingerprint in `/me` by the keys that the bot ever had', () => {
  const states = { a: 'active', b: 'pending', c: 'retired', d: 'destroyed' } as const
  const keys = Object.entries(states).map(([print, state]) => keyOf(print, { state }))
  const of = (shown: string | null, firstPublishedAtMs: number | null): string =>
    remoteKeyStateOf(shown, { keys, firstPublishedAtMs })
  expect(['a', 'b', 'c', 'd', 'x'].map((shown) => of(shown, 5))).toEqual([
    'equal',
    'pending',
    'older',
    'older',
    'foreign',
  ])
  expect([of(null, null), of(null, 0), of('x', null)]).toEqual(['first', 'none', 'foreign'])
})
