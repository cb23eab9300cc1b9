import { describe, expect, test } from 'vitest'
import { beginLife, type KeyLife } from '../../../src/keys/life/life.ts'
import type {
  Facts,
  PublicationState,
  RemoteKeyState,
} from '../../../src/kernel/own-key/key-state.ts'
import { advance } from '../../../src/keys/life/machine.ts'
import type { OwnKeyRecord } from '../../../src/kernel/own-key/own-key.ts'
import { factsOf, keyOf, pendingKey } from '../publication-scene.ts'

const KEY = keyOf('ours')
const NOW_MS = 1_000_000
const FACTS = factsOf([KEY])
const life = (publication: PublicationState, facts = FACTS): KeyLife => ({
  ...beginLife(facts, null),
  publication,
})

test('a life begins as published with an active key, and as unpublished without one or beside a pending key', () => {
  const of = (...keys: OwnKeyRecord[]) => beginLife(factsOf(keys), null).publication
  expect(of(KEY)).toBe('published')
  expect(of()).toBe('unpublished')
  expect(of(KEY, pendingKey('new'))).toBe('unpublished')
})

describe('the event `clock-passed`', () => {
  const after = (state: PublicationState, facts: Facts) =>
    advance(life(state), { kind: 'clock-passed' }, facts)
  const ending = factsOf([{ ...KEY, endsMs: NOW_MS + 500 }])

  test('the end of a published key changes its state to expired, and a clock set back changes it back', () => {
    expect(after('published', ending).effects).toEqual([])
    const over = { ...ending, nowMs: NOW_MS + 500 }
    const expired = after('published', over)
    expect(expired.effects).toEqual([
      { kind: 'log', level: 'debug', fields: { state: 'expired' }, message: 'the bot’s key' },
      { kind: 'state', state: 'expired', detail: 'phones seal nothing to it any more' },
    ])
    expect(after('expired', over).effects).toEqual([])
    expect(after('expired', ending).life.publication).toBe('published')
  })

  test.each<PublicationState>(['unpublished', 'conflict', 'unprotected'])(
    'the clock leaves a key that is %s in its state',
    (state) => {
      expect(after(state, factsOf([{ ...KEY, endsMs: 5 }]))).toEqual({
        life: life(state),
        effects: [],
      })
      expect(after('published', factsOf([])).effects).toEqual([])
    },
  )
})

test.each<[RemoteKeyState | null, PublicationState]>([
  [null, 'published'],
  ['equal', 'published'],
  ['pending', 'published'],
  ['older', 'unpublished'],
  ['foreign', 'unpublished'],
  ['none', 'unpublished'],
])(
  'a key that another sidecar changed counts as published or not by the last `/me`: %s gives %s',
  (remote, state) => {
    const before = { ...life('unpublished'), remote }
    expect(advance(before, { kind: 'keys-changed' }, FACTS).life.publication).toBe(state)
  },
)
