/** What `advance` does where neither the driver's tests nor the explorer reach. */
import { expect, test } from 'vitest'
import { Refusal } from '../../../src/errors.ts'
import { beginLife, type Errand, type KeyEvent, type KeyLife } from '../../../src/keys/life/life.ts'
import type { Facts } from '../../../src/kernel/own-key/key-state.ts'
import { advance } from '../../../src/keys/life/machine.ts'
import { isRefused } from '../../../src/keys/life/transition.ts'
import { factsOf, keyOf, pendingKey } from '../publication-scene.ts'
import { serviceError } from '../support.ts'

const [OLD, NEW] = [keyOf('old'), pendingKey('new')]
const OFFERED = pendingKey('new', { offeredAtMs: 5 })
const DONE = { kind: 'done' } as const
const failed = (error: unknown) => ({ kind: 'failed', error }) as const
const shown = (fingerprint: string) => ({ kind: 'shown', fingerprint }) as const

/** A life over keys, to which a test gives events. */
function story(keys: Facts['keys'], part: Partial<KeyLife> = {}) {
  const facts = factsOf(keys)
  let life: KeyLife = { ...beginLife(facts, null), ...part }
  const give = (...events: KeyEvent[]) =>
    events.flatMap((event) => {
      const after = advance(life, event, facts)
      life = after.life
      return after.effects
    })
  return { give, life: () => life }
}

test.each([
  ...[400, 401, 403, 404, 409, 410, 413, 429].map((status) => [status, true]),
  ...[402, 405, 408, 412, 422, 500, 502, 503, 504].map((status) => [status, false]),
])('`isRefused` of an answer with status %d gives %s', (status, expected) => {
  expect(isRefused(serviceError(Number(status)))).toBe(expected)
})

test('a task whose sends cannot be released ends with the first error', () => {
  const [first, later] = [new Refusal('postern_store_unwritable'), new Error('later')]
  const asked = [{ kind: 'asked', errand: 'publish' } as const, shown('old'), DONE]
  const failing = story([NEW, OLD])
  failing.give(...asked, failed(first))
  expect(failing.give(failed(later)).at(-1)).toEqual({ kind: 'ended', error: first })
  const working = story([NEW, OLD])
  working.give(...asked, DONE, DONE, DONE, shown('new'), DONE)
  expect(working.give(failed(later)).at(-1)).toEqual({ kind: 'ended', error: later })
})

test.each<[Errand, boolean]>([
  ['compare', false],
  ['observe', false],
  ['publish', true],
  ['report', true],
])('an unanswered `GET /me` still counts as such after the errand %s: %s', (errand, expected) => {
  const one = story([OLD], { isUnanswered: true })
  one.give({ kind: 'asked', errand })
  expect(one.life().isUnanswered).toBe(expected)
})

test('a `/me` of another caller starts no comparison while an attempt is confirmed', () => {
  const one = story([NEW, OLD])
  one.give({ kind: 'asked', errand: 'publish' }, shown('old'), DONE, DONE, DONE, DONE)
  expect(one.life().task.step).toBe('confirming')
  expect(one.give({ kind: 'bot-observed', fingerprint: 'new' })).toEqual([])
})

const changed = (life: KeyLife, ...keys: Facts['keys']) =>
  advance(life, { kind: 'keys-changed' }, factsOf(keys))
const begun = changed(story([OLD]).life(), NEW, OLD)

test('a pending key that another sidecar made begins a rotation, once', () => {
  expect(begun.life.rotation.current).toEqual({ from: 'old', to: 'new' })
  const detail = 'another sidecar rotates the key'
  expect(begun.effects).toEqual([
    { kind: 'rotation-begun', from: 'old', to: 'new', startedAtMs: 500, detail },
  ])
  expect(changed(begun.life, NEW, OLD).effects).toEqual([])
  expect(changed(story([OLD]).life(), OLD).effects).toEqual([])
})

test('a rotation that another sidecar completed is done, and the new key counts as published', () => {
  const offered = changed(begun.life, OFFERED, OLD)
  expect(offered.life.publication).toBe('unpublished')
  const rotated = changed(offered.life, keyOf('new'), keyOf('old', { state: 'retired' }))
  expect(rotated.life.rotation.current).toBeNull()
  expect(rotated.effects[0]).toMatchObject({ kind: 'rotation-step', phase: 'done' })
  expect(rotated.life.publication).toBe('published')
})

test('a rotation whose key another sidecar discarded is abandoned', () => {
  const [effect] = changed(begun.life, OLD).effects
  expect(effect).toMatchObject({ kind: 'rotation-step', phase: 'abandoned' })
})
