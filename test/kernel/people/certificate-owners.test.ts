import type { Pin } from '../../../src/kernel/index.ts'
import { expect, test } from 'vitest'
import {
  blankPin,
  newDisputes,
  newListings,
  pinAfter,
  Pins,
} from '../../../src/kernel/people/pins.ts'

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

const listing = (listed: { userId: number; fingerprint: string | null }[], ...known: Pin[]) =>
  newListings(listed, (userId) => pinsOf(...known).get(userId), { room: 9, isNews: () => false })

test('the first certificate of a person is pinned', () => {
  expect(listing([of(1, 'a'), of(1, 'a')])).toEqual({ fresh: [of(1, 'a')], tooMany: 0 })
  const known = { standing: 'seen', sinceMs: 50, listedAtMs: 50 }
  const after = pinAfter(1, undefined, { first: 'a', last: 'a', nowMs: 50 })
  expect(after).toEqual({ userId: 1, fingerprint: 'a', listed: 'a', ...known })
  // of whom nothing is known and nothing listed, there is nothing to remember
  expect(listing([of(2, null)])).toEqual({ fresh: [], tooMany: 0 })
})

test('another certificate is claimed since now, none since never, and the pin stays', () => {
  const before = pin(1, 'a', { sinceMs: 5, listedAtMs: 5, standing: 'verified' })
  const former = { fingerprint: 'a', changedAtMs: 50, wasPinned: true }
  const after = (last: string | null) => pinAfter(1, before, { first: last, last, nowMs: 50 })
  expect(listing([of(1, 'a')], before).fresh).toEqual([])
  expect(listing([of(1, 'b')], before).fresh).toEqual([of(1, 'b')])
  expect(after('a')).toBeNull()
  expect(after('b')).toEqual({ ...before, listed: 'b', listedAtMs: 50, former })
  expect(after(null)).toEqual({ ...before, listed: null, listedAtMs: null, former })
})

test('who is listed with two certificates, or with one and none, is left as they were', () => {
  for (const two of ['b', null]) {
    expect(listing([of(1, 'a'), of(1, two)])).toEqual({ fresh: [], tooMany: 0 })
    expect(listing([of(1, two), of(1, 'a')]).fresh).toEqual([])
  }
})

test('there is room for so many new people, and known ones need none', () => {
  const listed = [of(1, 'a'), of(2, 'b'), of(3, 'c'), of(4, 'd'), of(5, 'e')]
  const known = pinsOf(pin(4, 'x'))
  const { fresh, tooMany } = newListings(listed, (userId) => known.get(userId), {
    room: 2,
    isNews: () => false,
  })
  expect([fresh.map(({ userId }) => userId), tooMany]).toEqual([[1, 2, 4], 2])
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
