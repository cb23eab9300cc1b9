import { expect, test } from 'vitest'
import { pauseAfterMs } from '../../src/translate/outcome.ts'

const batch = (delivered: number, withheld: number): { delivered: boolean }[] => [
  ...Array.from({ length: delivered }, () => ({ delivered: true })),
  ...Array.from({ length: withheld }, () => ({ delivered: false })),
]

test.each([
  ['all withheld', batch(0, 20)],
  ['one alone, withheld', batch(0, 1)],
  ['mostly withheld', batch(9, 10)],
])('a batch is held back for twice as long as it took: %s', (_, outcomes) => {
  expect(pauseAfterMs(outcomes, 40)).toBe(80)
})

test.each([
  ['all delivered', batch(20, 0)],
  ['half of it delivered', batch(10, 10)],
  ['nothing needed a verdict', []],
])('a batch is answered at once: %s', (_, outcomes) => {
  expect(pauseAfterMs(outcomes, 40)).toBe(0)
})

test('what took next to nothing is not held back, and nothing for long', () => {
  expect(pauseAfterMs(batch(0, 1), 1)).toBe(0)
  expect(pauseAfterMs(batch(0, 1), 30_000)).toBe(250)
})

test('what took 5 ms or more is held back, and never for more than a quarter of a second', () => {
  expect([4.9, 5, 125, 126].map((tookMs) => pauseAfterMs(batch(0, 1), tookMs))).toEqual([
    0, 10, 250, 250,
  ])
})
