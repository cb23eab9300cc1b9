import { expect, test } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { MessageFinding } from '../../src/kernel/opening/finding.ts'
import { outcomeOf } from '../../src/translate/outcome.ts'
import type { FinalVerdict } from '../../src/translate/write-finding.ts'
import { found } from '../kernel/opening/examine-scene.ts'
import type { VerifyPolicy } from '../../src/kernel/opening/verdict.ts'

const NOW_MS = Date.UTC(2026, 1, 2)

useFakeTime({ toFake: ['Date'], now: NOW_MS })

function outcome(final: FinalVerdict, finding: MessageFinding, verify: VerifyPolicy = 'flag') {
  const one = { found: found({ armored: 'words' }), finding, ms: 12, updateId: 4 }
  return outcomeOf(one, { final, verify })
}

const opened = {
  kind: 'opened',
  opened: { openedWith: 'own fingerprint' },
  judged: { verdict: 'verified' },
  isForOtherChat: false,
} as MessageFinding
const closed = (verdict: FinalVerdict['verdict']): MessageFinding => ({ kind: 'closed', verdict })

test('of a Message it is remembered who, where and what was found, and none of its words', () => {
  const final = { verdict: 'verified', reason: 'shared-certificate', signer: 'f' } as const
  expect(outcome(final, opened)).toStrictEqual({
    updateId: 4,
    atMs: NOW_MS,
    tookMs: 12,
    chatId: 50,
    messageId: 3,
    userId: 5,
    verdict: 'verified',
    reason: 'shared-certificate',
    delivered: true,
    openedWith: 'own fingerprint',
    signer: 'f',
  })
})

test('what has neither reason nor signer says so', () => {
  expect(outcome({ verdict: 'damaged' }, closed('damaged'))).toMatchObject({
    reason: null,
    signer: null,
    openedWith: null,
    delivered: false,
  })
})

test.each([
  ['unsigned', 'flag', true],
  ['unsigned', 'require', false],
  ['bad-signature', 'flag', false],
  ['bad-signature', 'off', true],
] as const)('what was opened as %s counts as delivered under %s: %s', (verdict, verify, is) => {
  expect(outcome({ verdict }, opened, verify).delivered).toBe(is)
})

test('what was signed long before its date counts as delivered under flag alone', () => {
  const final = { verdict: 'verified', reason: 'signed-long-before' } as const
  expect(outcome(final, opened, 'flag').delivered).toBe(true)
  expect(outcome(final, opened, 'require').delivered).toBe(false)
})

test('what was not opened was not delivered, whatever its verdict', () => {
  expect(outcome({ verdict: 'replayed' }, closed('replayed'), 'off').delivered).toBe(false)
  const plain = { kind: 'plain', verdict: 'before-key' } as const
  expect(outcome({ verdict: 'before-key' }, plain).delivered).toBe(true)
})
