/** Findings about a Message, and its verdict. */
import type { OpenedText } from '../../openpgp/index.ts'
import type { FoundMessage } from './find-messages.ts'
import type { Judged } from './signatures.ts'
import { delivers, type Reasoned, type TransientError, type VerifyPolicy } from './verdict.ts'

/**
 * `readable`: an `armored` in a readable chat, delivered as text. `plain`: readable text in a
 * protected chat, or in one of an unknown mode. `closed`: an `armored` that was not opened.
 */
export type MessageFinding =
  | { kind: 'untouched' | 'readable' }
  | ({ kind: 'plain' | 'closed' } & Reasoned)
  /** `isForOtherChat` counts where the memory does not know the message as one of this chat. */
  | { kind: 'opened'; opened: OpenedText; judged: Judged; isForOtherChat: boolean }

/** A Message with its finding, and the ms of examining it. */
export interface ExaminedMessage {
  found: FoundMessage
  finding: MessageFinding
  ms: number
}

/** The verdict of a Message; `signer` is the fingerprint of the certificate that verified it. */
export type FinalVerdict = Reasoned & Pick<Judged, 'signer' | 'signedAtMs'>

export type NumberedMessage = ExaminedMessage & { updateId: number }

/** With its final verdict; null where none is needed. */
export type JudgedMessage = NumberedMessage & { final: FinalVerdict | null }

/** The verdict of the finding itself; null where no verdict is needed. */
function ownVerdictOf(finding: MessageFinding): (Reasoned & Partial<Judged>) | null {
  if (finding.kind === 'opened') return finding.judged
  return 'verdict' in finding ? finding : null
}

/** The final verdict; null where none is needed. @param settled the replacement by `settle` */
export function finalOf(
  finding: MessageFinding,
  settled: Reasoned | undefined,
): FinalVerdict | null {
  const own = ownVerdictOf(finding)
  return own === null ? null : (settled ?? own)
}

/** Why asking the service again soon may give a better finding; null: it will not. */
export const transientErrorIn = (finding: MessageFinding): TransientError | null =>
  ownVerdictOf(finding)?.transientError ?? null

/** Whether the text of a Message with this verdict is given to the bot: a closed one has none. */
export const deliversText = (
  finding: MessageFinding,
  final: Reasoned,
  verify: VerifyPolicy,
): boolean => finding.kind !== 'closed' && delivers(final, verify)

/** The finding of a Message that was not examined: nothing in it is delivered as text. */
export function unexamined(
  { armored }: Record<string, unknown>,
  reason: 'deadline' | 'failed' | 'too-many-messages',
): MessageFinding {
  if (typeof armored !== 'string') return { kind: 'plain', verdict: 'mode-unknown' }
  const verdict = reason === 'too-many-messages' ? 'too-large' : 'damaged'
  return { kind: 'closed', verdict, reason }
}
