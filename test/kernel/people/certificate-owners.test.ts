import type { Pin } from '../../../src/kernel/index.ts'
import { expect, test } from 'vitest'
import { changedPins, newDisputes } from '../../../src/kernel/people/certificate-owners.ts'
import { blankPin, Pins } from '../../../src/kernel/people/pins.ts'

const of = (userId: number, fingerprint: string | null) => ({ userId, fingerprint })
const pin = (userId: number, listed: string | null, more: Partial<Pin> = {}): Pin => ({
  ...blankPin(userId),
  fingerprint: listed,
  listed,
  ...more,
})

function pinsOf(...given: Pin[]): Pins {
  const pins = new Pins()
  for (const one of given) pins.set(one)
  return pins
}

const AT = { nowMs: 50, room: 9 }

test('the first certificate of a person is pinned, and so is that somebody has none', () => {
  const known = { standing: 'seen', sinceMs: 50, listedAtMs: 50 }
  expect(changedPins([of(1, 'a'), of(1, 'a')], pinsOf(), AT)).toEqual({
    changed: [{ userId: 1, fingerprint: 'a', listed: 'a', ...known }],
    tooMany: 0,
  })
  // of whom nothing is known and nothing listed, there is nothing to remember
  expect(changedPins([of(2, null)], pinsOf(), AT)).toEqual({ changed: [], tooMany: 0 })
})

test('another certificate is claimed since now, none since never, and the pin stays', () => {
  const before = pin(1, 'a', { sinceMs: 5, listedAtMs: 5, standing: 'verified' })
  const after = (listed: string | null): Pin[] =>
    changedPins([of(1, listed)], pinsOf(before), AT).changed
  expect(after('a')).toEqual([])
  expect(after('b')).toEqual([{ ...before, listed: 'b', listedAtMs: 50 }])
  expect(after(null)).toEqual([{ ...before, listed: null, listedAtMs: null }])
})

test('who is listed with two certificates, or with one and none, is left as they were', () => {
  for (const two of ['b', null]) {
    expect(changedPins([of(1, 'a'), of(1, two)], pinsOf(), AT)).toEqual({ changed: [], tooMany: 0 })
    expect(changedPins([of(1, two), of(1, 'a')], pinsOf(), AT).changed).toEqual([])
  }
})

test('there is room for so many new people, and known ones need none', () => {
  const listed = [of(1, 'a'), of(2, 'b'), of(3, 'c'), of(4, 'd'), of(5, 'e')]
  const { changed, tooMany } = changedPins(listed, pinsOf(pin(4, 'x')), { ...AT, room: 2 })
  expect([changed.map(({ userId }) => userId), tooMany]).toEqual([[1, 2, 4], 2])
})

test('a certificate that is listed for a second person is disputed by all of them, by id', () => {
  expect(newDisputes([pin(3, 'a')], pinsOf(pin(20, 'a')))).toEqual([
    { fingerprint: 'a', people: [3, 20] },
  ])
  expect(newDisputes([pin(20, 'a'), pin(3, 'a'), pin(100, 'a')], pinsOf())).toEqual([
    { fingerprint: 'a', people: [3, 20, 100] },
  ])
})

test('nothing is newly disputed that one person has, that was disputed before, or that nobody lists', () => {
  expect(newDisputes([pin(1, 'a'), pin(2, 'b')], pinsOf())).toEqual([])
  expect(newDisputes([pin(3, 'a')], pinsOf(pin(1, 'a'), pin(2, 'a')))).toEqual([])
  expect(newDisputes([pin(1, null), pin(2, null)], pinsOf(pin(1, 'a'), pin(2, 'b')))).toEqual([])
  // one who had it lists another at the same time
  expect(newDisputes([pin(1, 'b'), pin(2, 'a')], pinsOf(pin(1, 'a')))).toEqual([])
})
