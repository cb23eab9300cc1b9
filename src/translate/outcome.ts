import type { MessageOutcome } from '../store/outcomes.ts'
import { type JudgedMessage, type VerifyPolicy, deliversText } from '../kernel/index.ts'

/** The record of a Message: ids, finding and verdict, never its content; none without a verdict. */
export function outcomesOf(
  { found, finding, final, ms, updateId }: JudgedMessage,
  verify: VerifyPolicy,
): MessageOutcome[] {
  if (final === null) return []
  const { chatId, messageId, fromId } = found
  const { verdict, reason = null, signer = null } = final
  const outcome = {
    updateId,
    atMs: Date.now(),
    tookMs: ms,
    chatId,
    messageId,
    userId: fromId,
    verdict,
    reason,
    delivered: deliversText(finding, final, verify),
    openedWith: finding.kind === 'opened' ? finding.opened.openedWith : null,
    signer,
  }
  return [outcome]
}

/** Work that is worth a rest, and the longest rest, in ms. */
const NOTABLE_MS = 5
const LONGEST_MS = 250

/**
 * How long a batch is held back, in ms, when most of its Messages are withheld: twice its
 * processing time. A bot polls again immediately, so that a flood of Messages that are costly to
 * refuse could use all of our time; the pause limits it to a third.
 * @param outcomes of the batch; Messages without a verdict have none
 */
export function pauseAfterMs(outcomes: readonly { delivered: boolean }[], tookMs: number): number {
  const withheld = outcomes.filter(({ delivered }) => !delivered).length
  if (withheld * 2 <= outcomes.length || tookMs < NOTABLE_MS) return 0
  return Math.min(2 * tookMs, LONGEST_MS)
}
