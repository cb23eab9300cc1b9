/** How we answer for a shape, by the engine of a sidecar: natively, or by openpgp.js alone. */
import { isWorthless } from '../../src/kernel/people/person.ts'
import { createEngine, type MeasuredEngine, type UnlockedKey } from '../../src/openpgp/index.ts'
import { MemoryRoom, contentOf, readerOf } from '../support/memory-room.ts'
import { armor } from '../support/openpgp-framing.ts'
import { questionsOf } from './all.ts'
import { READ_MS, isTextOf, reader, type Question, type Shape } from './shape.ts'

/** `yes`, or the reason that is named. */
export type OurAnswers = Partial<Record<Question, string>>

export interface OurResult {
  answers: OurAnswers
  notBeforeMs: number
  /** The outcome of the message as a file, whose reader may find another fault first. */
  file: string
}

export const engineOf = (engine: 'native' | 'library'): MeasuredEngine =>
  createEngine({ engine, nowMs: () => READ_MS })

/** A certificate as a service lists it, and a message as it arrives: armored. */
export const armored = (bytes: Buffer | string, type: string): string =>
  typeof bytes === 'string' ? bytes : armor(bytes, { type })

export async function resultOf(shape: Shape, engine: MeasuredEngine): Promise<OurResult> {
  const keys = await keysOf(shape, engine)
  if (typeof keys === 'string') return { answers: { read: keys }, notBeforeMs: 0, file: keys }
  const status = await engine.judge(armored(shape.certificate, 'PUBLIC KEY BLOCK'))
  const opened = await engine.open(armored(shape.message, 'MESSAGE'), keys)
  const answers: Record<Question, string> = {
    seal: status.unusable ?? 'yes',
    read: opened.outcome === 'opened' ? readAs(shape, opened.text) : outcomeOf(opened),
    verify: outcomeOf(opened),
  }
  if (opened.outcome === 'opened') {
    const results = await engine.verify(opened.signed, status.armored, READ_MS)
    const isValid = results.some((one) => one === 'valid')
    const of = isValid ? 'yes' : results.join(' ') || 'unsigned'
    answers.verify = isWorthless(status.unusable) ? answers.seal : of
  }
  const asked = questionsOf(shape).map((question) => [question, answers[question]])
  return {
    answers: Object.fromEntries(asked) as OurAnswers,
    notBeforeMs: status.notBeforeMs,
    file: await fileOf(shape, engine, keys),
  }
}

/** The keys that open the message, or the reason that a secret key is not imported. */
async function keysOf({ secret }: Shape, engine: MeasuredEngine): Promise<UnlockedKey[] | string> {
  if (secret === undefined) return [reader.unlocked]
  const adopted = await engine.adopt(secret, { from: null, to: 'peers', isRandom: true })
  if (adopted.outcome === 'unfit') return adopted.reason
  return [await engine.unlock(adopted.key.locked, 'peers')]
}

/** The same bytes as an attachment. */
async function fileOf(shape: Shape, engine: MeasuredEngine, keys: UnlockedKey[]): Promise<string> {
  const form = typeof shape.message === 'string' ? 'armored' : 'binary'
  const bytes = Buffer.from(shape.message)
  const opened = await engine.openFile(readerOf(bytes), { form, room: new MemoryRoom(), keys })
  if (opened.outcome !== 'opened') return opened.outcome
  return readAs(shape, (await contentOf(opened.file)).toString())
}

const readAs = (shape: Shape, text: string): string => (isTextOf(shape, text) ? 'yes' : 'others')

function outcomeOf(opened: { outcome: string; reason?: string }): string {
  return opened.reason === undefined ? opened.outcome : `${opened.outcome}: ${opened.reason}`
}
