import { expect, test } from 'vitest'
import { meaningOfRefusal } from '../../src/kernel/decision.ts'

test.each([
  ['readable', 'wrong_body_kind', 'armored', 'protected'],
  ['readable', 'wrong_body_kind', 'text', 'final'],
  ['readable', 'wrong_body_kind', undefined, 'final'],
  ['sealed', 'wrong_body_kind', 'text', 'downgrade'],
  ['sealed', 'wrong_body_kind', undefined, 'downgrade'],
  ['sealed', 'wrong_body_kind', 'armored', 'final'],
  ['armored', 'wrong_body_kind', 'text', 'final'],
  ['armored', 'wrong_body_kind', 'armored', 'final'],
  ['readable', 'bad_request', 'armored', 'final'],
  ['sealed', 'bad_request', 'text', 'final'],
] as const)(
  'the refusal of %s words with %s, expecting %s, means %s',
  (sent, code, expected, meaning) => {
    expect(meaningOfRefusal({ code, expected }, sent)).toBe(meaning)
  },
)
