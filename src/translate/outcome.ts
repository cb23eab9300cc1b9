import type { MessageOutcome } from '../chats/outcomes.ts'
import type { Judgeable } from './batch.ts'
import type { MessageFinding } from './examine.ts'
import { delivers, type VerifyPolicy } from './verdict.ts'
import type { FinalVerdict } from './write-finding.ts'

/** What is remembered of a Message: who, where, what was found, never what it says. */
export function outcomeOf(
  { found, ms, updateId }: Judgeable & { updateId: number },
  judged: { final: FinalVerdict; finding: MessageFinding; verify: VerifyPolicy },
): MessageOutcome {
  const { chatId, messageId, fromId } = found
  const { final, finding, verify } = judged
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
    delivered: finding.kind !== 'closed' && delivers(final, verify),
    openedWith: finding.kind === 'opened' ? finding.opened.openedWith : null,
    signer,
  }
}
