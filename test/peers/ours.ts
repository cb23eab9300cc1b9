/** How we answer for a shape, by the engine of a sidecar: natively, or by openpgp.js alone. */
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import { armor } from '../support/openpgp-framing.ts'
import { READ_MS, WORDS, reader, type Question, type Shape } from './shape.ts'
import { questionsOf } from './all.ts'

/** `yes`, or the reason that is named. */
export type OurAnswer = string

export const engineOf = (engine: 'native' | 'library'): MeasuredEngine =>
  createEngine({ engine, nowMs: () => READ_MS })

/** A certificate as a service lists it, and a message as it arrives: armored. */
const armored = (bytes: Buffer | string, type: string): string =>
  typeof bytes === 'string' ? bytes : armor(bytes, { type })

export async function answersOf(
  shape: Shape,
  engine: MeasuredEngine,
): Promise<Partial<Record<Question, OurAnswer>>> {
  const certificate = armored(shape.certificate, 'PUBLIC KEY BLOCK')
  const status = await engine.judge(certificate)
  const opened = await engine.open(armored(shape.message, 'MESSAGE'), [reader.unlocked])
  const answers: Record<Question, OurAnswer> = {
    seal: status.unusable ?? 'yes',
    read: 'no',
    verify: 'no',
  }
  if (opened.outcome === 'opened') {
    answers.read = isWords(opened.text) ? 'yes' : 'other words'
    const results = await engine.verify(opened.signed, status.armored, READ_MS)
    answers.verify = results.includes('valid') ? 'yes' : results.join(' ') || 'unsigned'
  } else {
    const reason = 'reason' in opened ? opened.reason : undefined
    answers.read = answers.verify =
      reason === undefined ? opened.outcome : `${opened.outcome}: ${reason}`
  }
  return Object.fromEntries(questionsOf(shape).map((question) => [question, answers[question]]))
}

/** Text mode may change line ends, and some shapes have more words than these. */
export function isWords(text: string): boolean {
  return text.replaceAll('\r\n', '\n').startsWith(WORDS) || text === ''
}
