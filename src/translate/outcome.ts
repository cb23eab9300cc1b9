import { isObject } from '../api/common.ts'
import type { MessageOutcome } from '../chats/outcomes.ts'
import type { Judgeable } from './batch.ts'
import type { Finding } from './examine.ts'
import { delivers, type Verdict, type VerifyPolicy } from './verdict.ts'

/**
 * What is remembered of a Message once its finding was written into it: who, where, what was
 * found, never what it says.
 */
export function outcomeOf(
  { found, ms, updateId }: Judgeable & { updateId: number },
  judged: { verdict: Verdict; finding: Finding; verify: VerifyPolicy },
): MessageOutcome {
  const { message, chatId, messageId, fromId } = found
  const { verdict, finding, verify } = judged
  const said = isObject(message['postern']) ? message['postern'] : {}
  return {
    updateId,
    atMs: Date.now(),
    tookMs: ms,
    chatId,
    messageId,
    userId: fromId,
    verdict,
    reason: textOf(said['reason']),
    delivered: finding.kind !== 'closed' && delivers(verdict, verify),
    openedWith: finding.kind === 'opened' ? finding.opened.openedWith : null,
    signer: textOf(said['signer']),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
