/** Writes a finding into the Message that the bot reads. */
import { deliveredText } from '../api/text.ts'
import { stringify } from '../util/exact-json.ts'
import { deliversText } from '../kernel/index.ts'
import type { JudgedMessage, KeyChange, VerifyPolicy } from '../kernel/index.ts'

/**
 * Changes a Message in place: opened text in the place of `armored`, or a verdict beside it.
 * @param how `keyChanged`: changes of the sender's certificate to inform the bot of
 */
export function writeFinding(
  message: Record<string, unknown>,
  { finding, final }: Pick<JudgedMessage, 'finding' | 'final'>,
  how: { verify: VerifyPolicy; normalizeText: boolean; keyChanged?: readonly KeyChange[] },
): void {
  if (finding.kind === 'readable') writeReadable(message)
  if (final === null) return
  const { verdict, signer, signedAtMs: signedAt, reason } = final
  const { keyChanged = [], verify, normalizeText } = how
  const isDelivered = deliversText(finding, final, verify)
  const withheld = isDelivered ? {} : withholdText(message)
  message['postern'] = {
    opened: finding.kind === 'opened',
    verdict,
    ...(signer !== undefined && { signer, signedAt }),
    ...(reason !== undefined && { reason }),
    // the bot gets nothing of a request, which somebody may have shown it readable
    ...(reason !== 'approval-request' && withheld),
    ...(keyChanged.length > 0 && { keyChanged }),
  }
  if (isDelivered && finding.kind === 'opened') {
    const { text } = finding.opened
    delete message['armored']
    message['text'] = normalizeText ? deliveredText(text) : text
  }
}

/** An armored text in a readable chat reads as text there, as in any client. */
function writeReadable(message: Record<string, unknown>): void {
  const { armored } = message
  const withheld = withholdText(message)
  message['postern'] = { opened: false, verdict: 'unsigned', reason: 'readable-chat', ...withheld }
  delete message['armored']
  message['text'] = armored
}

/**
 * Removes withheld text. It is kept beside the verdict, always as a string; a value of another
 * type, such as a list, as its JSON.
 */
function withholdText(message: Record<string, unknown>): { withheldText?: string } {
  const { text } = message
  if (text === undefined || text === null || text === '') return {}
  delete message['text']
  return { withheldText: typeof text === 'string' ? text : stringify(text) }
}
