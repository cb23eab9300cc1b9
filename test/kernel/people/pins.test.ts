import type { Pin } from '../../../src/kernel/index.ts'
import { expect, test } from 'vitest'
import { blankPin, Pins } from '../../../src/kernel/people/pins.ts'
import { open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const pin = (userId: number, listed: string | null, more: Partial<Pin> = {}): Pin => ({
  ...blankPin(userId),
  listed,
  ...more,
})

test('of a person of whom nothing is known, nothing is listed or decided', () => {
  expect(blankPin(7)).toEqual({
    userId: 7,
    fingerprint: null,
    sinceMs: 0,
    standing: 'seen',
    listed: null,
    listedAtMs: null,
  })
})

test('a pin is read again as it was written, and the later one counts', async () => {
  const store = await open(temporary())
  const first = pin(2, 'a', { fingerprint: 'a', sinceMs: 5, listedAtMs: 6 })
  const later = pin(2, 'b', { fingerprint: 'a', sinceMs: 7, standing: 'verified', listedAtMs: 8 })
  const other = pin(1, null, { standing: 'blocked', sinceMs: 9 })
  for (const one of [first, other, later])
    await memoryOf(store).write((records) => records.pins.save([one]))
  const pins = await Pins.load(memoryOf(store))
  expect(pins.all).toEqual([other, later])
  expect([pins.size, pins.get(2), pins.get(3)]).toEqual([2, later, undefined])
  expect(pins.claimantsOf('b')).toEqual([2])
  // in whatever order they came
  pins.set(pin(100, 'c'))
  pins.set(pin(20, 'd'))
  expect(pins.all.map(({ userId }) => userId)).toEqual([1, 2, 20, 100])
})

test('who is listed with a certificate is known for as long as they are', () => {
  const pins = new Pins()
  const claims = (): number[][] => ['a', 'b'].map((print) => pins.claimantsOf(print))
  const counts = (): number[] => ['a', 'b'].map((print) => pins.claimsOn(print))
  const set = (...given: Pin[]): void => given.forEach((one) => pins.set(one))
  expect(counts()).toEqual([0, 0])
  set(pin(3, 'a', { fingerprint: 'a' }))
  expect(claims()).toEqual([[3], []])
  expect(counts()).toEqual([1, 0])
  // the same again is no second claim
  set(pin(3, 'a', { standing: 'accepted' }))
  expect(claims()).toEqual([[3], []])
  set(pin(1, 'a'), pin(2, 'a', { fingerprint: 'a' }))
  expect(claims()).toEqual([[1, 2, 3], []])
  expect(counts()).toEqual([3, 0])
  set(pin(1, 'b'), pin(3, null))
  expect(claims()).toEqual([[2], [1]])
  expect(counts()).toEqual([1, 1])
  set(pin(2, null), pin(1, null))
  expect(claims()).toEqual([[], []])
  set(pin(5, 'a'))
  expect(claims()).toEqual([[5], []])
})

test('the only one with a certificate goes, and somebody else who never had it changes nothing', () => {
  const pins = new Pins()
  for (const one of [pin(1, 'a'), pin(2, 'b'), pin(2, null)]) pins.set(one)
  expect(pins.claimantsOf('a')).toEqual([1])
  pins.set(pin(1, 'c'))
  expect([pins.claimsOn('a'), pins.claimsOn('c')]).toEqual([0, 1])
})
