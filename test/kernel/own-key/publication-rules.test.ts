import { expect, test } from 'vitest'
import type { Facts } from '../../../src/kernel/own-key/key-state.ts'
import {
  AFTER_ME,
  afterAttempt,
  commandRefusal,
  mayDiscard,
  publishableKey,
} from '../../../src/kernel/own-key/publication-rules.ts'
import { factsOf, keyOf, pendingKey } from '../../keys/publication-scene.ts'

const OLD = keyOf('old', { endsMs: 10 })
const NEW = pendingKey('new')
const RETIRED = keyOf('retired', { state: 'retired' })
const atMs = (keys: Facts['keys'], nowMs = 5): Facts =>
  factsOf(keys, { firstPublishedAtMs: 1, nowMs })

test('`publishableKey` prefers the pending key to the active one, and never gives a retired or locked one', () => {
  const of = (...keys: Facts['keys'][number][]) => publishableKey(atMs(keys))
  expect([of(OLD, NEW), of(OLD, RETIRED), of(RETIRED)]).toEqual([NEW, OLD, undefined])
  expect(of({ ...NEW, unlocked: null })).toBeUndefined()
})

test('`mayDiscard` allows a key that was never offered, and no other', () => {
  expect([NEW, OLD].map(mayDiscard)).toEqual([true, false])
})

test.each([
  ['pending', [OLD, NEW], 5, 'null confirm', 'null confirm'],
  ['foreign', [OLD, NEW], 5, 'conflict nothing', 'conflict nothing'],
  ['none', [OLD, NEW], 5, 'unprotected nothing', 'unprotected nothing'],
  ['equal', [OLD], 9, 'published nothing', 'published make'],
  ['equal', [OLD], 10, 'expired nothing', 'expired make'],
  ['equal', [OLD, NEW], 5, 'published nothing', 'null publish'],
  ['older', [OLD], 5, 'unpublished publish', 'unpublished publish'],
  ['older', [RETIRED], 5, 'unpublished nothing', 'unpublished nothing'],
  ['first', [NEW], 5, 'unpublished publish', 'unpublished publish'],
  ['first', [OLD], 5, 'unpublished make', 'unpublished make'],
] as const)('`AFTER_ME` for `%s` over %o at time %i', (remote, keys, nowMs, undue, due) => {
  const after = [false, true].map((is) => {
    const { state, next } = AFTER_ME[remote](atMs(keys, nowMs), { attempt: is, rotation: is })
    return `${state} ${next}`
  })
  expect(after).toEqual([undue, due])
})

test.each([
  ['foreign', [OLD], 'postern_key_conflict', 'postern_key_conflict'],
  ['none', [OLD], null, 'postern_bot_unprotected'],
  ['first', [], null, 'postern_key_unpublished'],
  ['equal', [OLD], null, null],
  ['equal', [OLD, NEW], null, 'postern_key_unpublished'],
] as const)('`commandRefusal` for `%s` in `/me` over %o', (remote, keys, ...codes) => {
  const facts = atMs(keys)
  const refusals = (['publish', 'rotate'] as const).map((one) => commandRefusal(one, remote, facts))
  expect(refusals).toEqual(codes)
})

const ATTEMPT = {
  fingerprint: 'new',
  isNew: true,
  before: 'old',
  puts: 1,
  accepted: 'unknown' as const,
  error: null,
  wasLost: true,
  looks: 1,
  shown: 'old',
}

test.each([
  ['promote', { shown: 'new', accepted: 'no' as const }],
  ['put', {}],
  ['conclude', { puts: 2 }],
  ['conclude', { shown: 'other' }],
  ['withdraw', { accepted: 'no' as const, wasLost: false }],
  ['withdraw', { puts: 2, wasLost: false }],
  ['conclude', { accepted: 'no' as const, wasLost: false, isNew: false }],
  ['conclude', { accepted: 'yes' as const, wasLost: false }],
])('`afterAttempt` gives `%s` after %o', (next, part) => {
  expect(afterAttempt({ ...ATTEMPT, ...part })).toBe(next)
})
