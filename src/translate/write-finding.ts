/** Writing what was found out into the Message that the bot reads (DESIGN: Opening). */
import { deliveredText } from '../api/text.ts'
import { stringify } from '../json.ts'
import type { Finding } from './examine.ts'
import { delivers, type Reasoned, type Verdict, type VerifyPolicy } from './verdict.ts'

/**
 * Changes a Message in place: opened text in the place of `armored`, or a verdict beside it.
 * @param how `settled` stands in the place of an opened message's own verdict
 * @returns the verdict, or null where none was needed
 */
export function writeFinding(
  message: Record<string, unknown>,
  finding: Finding,
  how: { settled: Reasoned | undefined; verify: VerifyPolicy; normalizeText: boolean },
): Verdict | null {
  if (finding.kind === 'untouched') return null
  if (finding.kind === 'words') {
    writeWords(message)
    return null
  }
  const own = finding.kind === 'opened' ? finding.judged : finding
  const { verdict, ...details } = how.settled ?? detailed(own)
  const delivered = delivers(verdict, how.verify)
  message['postern'] = { opened: finding.kind === 'opened', verdict, ...details }
  if (finding.kind === 'opened' && delivered) {
    const { text } = finding.opened
    delete message['armored']
    message['text'] = how.normalizeText ? deliveredText(text) : text
  } else if (finding.kind !== 'plain' || !delivered) {
    withholdText(message)
  }
  return verdict
}

/** What is told of a verdict; nothing else of how it came about. */
function detailed({
  verdict,
  reason,
  signer,
}: Reasoned & { signer?: string }): Reasoned & { signer?: string } {
  return {
    verdict,
    ...(signer === undefined ? {} : { signer }),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** An armored text in a readable chat reads as text there, as in any client. */
function writeWords(message: Record<string, unknown>): void {
  const { armored } = message
  message['postern'] = { opened: false, verdict: 'unsigned', reason: 'readable-chat' }
  withholdText(message)
  delete message['armored']
  message['text'] = armored
}

/**
 * Text that is not delivered is kept beside the verdict, always as a string: what was none, such as
 * a list, as its JSON. Nothing is lost.
 */
function withholdText(message: Record<string, unknown>): void {
  const { text } = message
  if (text === undefined || text === null || text === '') return
  delete message['text']
  const withheldText = typeof text === 'string' ? text : stringify(text)
  message['postern'] = { ...(message['postern'] as object), withheldText }
}
