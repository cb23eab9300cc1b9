import { describe, expect, test } from 'vitest'
import { NoResponseError } from '../../src/errors.ts'
import type { AttemptOutcome } from '../../src/upstream/attempt.ts'
import { ifAnswerLost, ifUnreached, never } from '../../src/upstream/caller.ts'

describe('repeat rules', () => {
  const error = new NoResponseError('postern_upstream_invalid')
  const failed = (kind: string, status: number | null = null) =>
    ({ kind, error, status }) as AttemptOutcome
  const answered = (status: number) => ({ kind: 'answered', answer: { status } }) as AttemptOutcome
  const all: [string, AttemptOutcome][] = [
    ['unreached', failed('unreached')],
    ['untrusted', failed('untrusted')],
    ['cut', failed('cut')],
    ['late', failed('late')],
    ['given-up', failed('given-up')],
    ...[null, 200, 299, 300, 399, 499, 500, 502].map((status): [string, AttemptOutcome] => [
      `unusable ${status}`,
      failed('unusable', status),
    ]),
    ...[200, 429, 499, 500, 501, 503].map((status): [string, AttemptOutcome] => [
      `answered ${status}`,
      answered(status),
    ]),
  ]
  const after = (rule: (outcome: AttemptOutcome) => boolean): string[] =>
    all.filter(([, outcome]) => rule(outcome)).map(([name]) => name)

  test('`ifUnreached` repeats a call only when the service was not reached', () => {
    expect(after(ifUnreached)).toEqual(['unreached'])
    expect(after(never)).toEqual([])
  })

  test('`ifAnswerLost` repeats a send when the answer was lost, and after no refusal', () => {
    expect(after(ifAnswerLost)).toEqual([
      'unreached',
      'cut',
      'late',
      'unusable null',
      'unusable 200',
      'unusable 299',
      'unusable 500',
      'unusable 502',
      'answered 500',
    ])
  })
})
