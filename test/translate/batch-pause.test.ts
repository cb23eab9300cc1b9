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
])('a batch is held back for twice its duration: %s', (_, outcomes) => {
  expect(pauseAfterMs(outcomes, 40)).toBe(80)
})

test.each([
  ['all delivered', batch(20, 0)],
  ['half of it delivered', batch(10, 10)],
  ['nothing needed a verdict', []],
])('a batch is answered at once: %s', (_, outcomes) => {
  expect(pauseAfterMs(outcomes, 40)).toBe(0)
})

test('a withheld batch of at least 5 ms is held back, for at most 250 ms', () => {
  expect([4.9, 5, 125, 126].map((tookMs) => pauseAfterMs(batch(0, 1), tookMs))).toEqual([
    0, 10, 250, 250,
  ])
})
