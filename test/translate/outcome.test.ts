import { expect, test } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { FinalVerdict, MessageFinding } from '../../src/kernel/opening/finding.ts'
import { outcomesOf } from '../../src/translate/outcome.ts'
import { found } from '../kernel/opening/examine-scene.ts'
import type { VerifyPolicy } from '../../src/kernel/opening/verdict.ts'

const NOW_MS = Date.UTC(2026, 1, 2)

useFakeTime({ toFake: ['Date'], now: NOW_MS })

function outcome(final: FinalVerdict, finding: MessageFinding, verify: VerifyPolicy = 'flag') {
  const one = { found: found({ armored: 'words' }), finding, final, ms: 12, updateId: 4 }
  return outcomesOf(one, verify)[0]
}

const opened = {
  kind: 'opened',
  opened: { openedWith: 'own fingerprint' },
  judged: { verdict: 'verified' },
  isForOtherChat: false,
} as MessageFinding
const closed = (verdict: FinalVerdict['verdict']): MessageFinding => ({ kind: 'closed', verdict })

test.each([
  [{ verdict: 'unsigned' }, 'flag', true],
  [{ verdict: 'unsigned' }, 'require', false],
  [{ verdict: 'bad-signature' }, 'flag', false],
  [{ verdict: 'bad-signature' }, 'off', true],
  [{ verdict: 'verified', reason: 'signed-long-before' }, 'flag', true],
  [{ verdict: 'verified', reason: 'signed-long-before' }, 'require', false],
] as const)('the outcome of an opened Message with %o under %s has delivered: %s', (...row) => {
  const [final, verify, is] = row
  expect(outcome(final, opened, verify)?.delivered).toBe(is)
})

test('the outcome of an unopened Message is not delivered, except text from before the key', () => {
  expect(outcome({ verdict: 'replayed' }, closed('replayed'), 'off')?.delivered).toBe(false)
  const plain = { kind: 'plain', verdict: 'before-key' } as const
  expect(outcome({ verdict: 'before-key' }, plain)?.delivered).toBe(true)
})
