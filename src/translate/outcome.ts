import type { MessageOutcome } from '../store/outcomes.ts'
import { type NumberedMessage, type VerifyPolicy, deliversText } from '../kernel/index.ts'
import type { FinalVerdict } from './write-finding.ts'

/** What is remembered of a Message: who, where, what was found, never what it says. */
export function outcomeOf(
  { found, finding, ms, updateId }: NumberedMessage,
  { final, verify }: { final: FinalVerdict; verify: VerifyPolicy },
): MessageOutcome {
  const { chatId, messageId, fromId } = found
  const { verdict, reason = null, signer = null } = final
  return {
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
}

/** Work that is worth a rest, and the longest rest, in ms. */
const NOTABLE_MS = 5
const LONGEST_MS = 250

/**
 * How long a batch is held back, in ms, when most of its Messages are withheld: twice as long as it
 * took. A bot asks again as soon as it is answered, so that whoever fills its queue with what is
 * costly to refuse would have all of our time, and so has a third of it.
 * @param outcomes of the batch; of what needed no verdict there are none
 */
export function pauseAfterMs(outcomes: readonly { delivered: boolean }[], tookMs: number): number {
  const withheld = outcomes.filter(({ delivered }) => !delivered).length
  if (withheld * 2 <= outcomes.length || tookMs < NOTABLE_MS) return 0
  return Math.min(2 * tookMs, LONGEST_MS)
}
