/**
 * One reading of an answer by any parser of a bot: values that another parser
 * would read differently than ours are removed, and so are values under our own name.
 */
import { ENVELOPE_NAMES, ERROR_NAMES, OWN_NAME, UPDATE_NAMES } from '../api/judged-names.ts'
import { isObject } from '../api/common.ts'
import { inSlices } from '../util/scheduling.ts'
import { countNames, isRawNumber } from '../util/exact-json.ts'

/** `updates`: everything in it is judged; `other`: only the envelope is. */
export type AnswerKind = 'updates' | 'other'

/**
 * Removes from a parsed answer, in place, values that allow a second reading.
 * @param text of which it was parsed
 * @returns whether it must be serialized anew: a value was removed, or the text contains a name
 *   twice, of which we have read the last
 */
export async function makeOneReading(
  answer: Record<string, unknown>,
  text: string,
  kind: AnswerKind,
): Promise<boolean> {
  const { result, error } = answer
  const reading = new Reading(kind === 'updates' ? UPDATE_NAMES : OWN_NAME)
  const other = answer['ok'] === true ? 'error' : 'result'
  reading.remove(answer, (name) => name === other || ENVELOPE_NAMES.isImpostor(name))
  if (isObject(error)) reading.remove(error, (name) => ERROR_NAMES.isImpostor(name))
  reading.names += Object.keys(answer).length
  for (const [name, value] of Object.entries(answer)) {
    if (name !== 'result' || !Array.isArray(value)) reading.clean(value)
  }
  for await (const one of inSlices(Array.isArray(result) ? result : [])) reading.clean(one)
  return reading.changed || reading.names !== countNames(text)
}

class Reading {
  /** Number of names read, as long as none was removed. */
  names = 0
  changed = false
  readonly #judged: typeof OWN_NAME

  constructor(judged: typeof OWN_NAME) {
    this.#judged = judged
  }

  remove(object: Record<string, unknown>, isWrong: (name: string) => boolean): void {
    for (const name of Object.keys(object).filter(isWrong)) {
      delete object[name]
      this.changed = true
    }
  }

  /** As deep as an answer may be, which is not deep (exact-json.ts). */
  clean(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const one of value) this.clean(one)
    } else if (!isRawNumber(value)) this.#cleanObject(value as Record<string, unknown>)
  }

  #cleanObject(object: Record<string, unknown>): void {
    for (const name in object) {
      this.names++
      if (this.#judged.isImpostor(name)) {
        delete object[name]
        this.changed = true
      } else this.clean(object[name])
    }
  }
}
