/** Writes a finding into the Message that the bot reads (DESIGN: Opening). */
import { deliveredText } from '../api/text.ts'
import { stringify } from '../util/exact-json.ts'
import {
  type MessageFinding,
  type Reasoned,
  type VerifyPolicy,
  deliversText,
  finalOf,
} from '../kernel/index.ts'

/** The verdict that a Message was given in the end. */
export interface FinalVerdict extends Reasoned {
  /** Fingerprint of the certificate that verified it. */
  signer?: string
  /** When it was signed, ms since the epoch. */
  signedAt?: number
}

/**
 * Changes a Message in place: opened text in the place of `armored`, or a verdict beside it.
 * @param how `settled` replaces an opened message's own verdict
 * @returns the verdict, or null where none was needed
 */
export function writeFinding(
  message: Record<string, unknown>,
  finding: MessageFinding,
  how: { settled: Reasoned | undefined; verify: VerifyPolicy; normalizeText: boolean },
): FinalVerdict | null {
  if (finding.kind === 'readable') writeReadable(message)
  const decided = finalOf(finding, how.settled)
  if (decided === null) return null
  const final = shownVerdict(decided)
  const isDelivered = deliversText(finding, final, how.verify)
  const withheld = isDelivered ? {} : withholdText(message)
  message['postern'] = { opened: finding.kind === 'opened', ...final, ...withheld }
  if (isDelivered && finding.kind === 'opened') {
    const { text } = finding.opened
    delete message['armored']
    message['text'] = how.normalizeText ? deliveredText(text) : text
  }
  return final
}

/** The part of a verdict that the bot sees. */
function shownVerdict(decided: NonNullable<ReturnType<typeof finalOf>>): FinalVerdict {
  const { verdict, signer, signedAtMs, reason } = decided
  return {
    verdict,
    ...(signer === undefined ? {} : { signer }),
    ...(signedAtMs === undefined ? {} : { signedAt: signedAtMs }),
    ...(reason === undefined ? {} : { reason }),
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
