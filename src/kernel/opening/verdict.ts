/** What opening established, and what is delivered for it (DESIGN: Opening). */
import type { Reason } from '../../translate/reasons/reason-descriptions.ts'
import { VERDICTS, type Verdict, type VerifyPolicy } from '../../translate/verdict-descriptions.ts'

/** A verdict with a word of ours that says why. */
export interface Reasoned {
  verdict: Verdict
  reason?: Reason
}

/** Whether text that was judged so is given to the bot. */
export function delivers({ verdict, reason }: Reasoned, policy: VerifyPolicy): boolean {
  const isHeldBack = reason === 'signed-long-before' && policy === 'require'
  return VERDICTS[verdict][policy] && !isHeldBack
}
