/**
 * One reading of an answer by any parser of a bot: values that another parser
 * would read differently than ours are removed, and so are values under our own name.
 */
import { ENVELOPE_NAMES, ERROR_NAMES, OWN_NAME, UPDATE_NAMES } from '../api/judged-names.ts'
import { isObject } from '../api/common.ts'
import { inSlices } from '../util/scheduling.ts'
import { countNames, isLong, isRawNumber } from '../util/exact-json.ts'

/** `updates`: everything in it is judged; `other`: only the envelope is. */
export type AnswerKind = 'updates' | 'other'

/**
 * Removes from a parsed answer, in place, values that allow a second reading.
 * @param text of which it was parsed
 * @returns whether it must be serialized anew: a value was removed, or the text contains a name
 *   twice, of which we have read the last; of a long answer a promise of that
 */
export function makeOneReading(
  answer: Record<string, unknown>,
  text: string,
  kind: AnswerKind,
): boolean | Promise<boolean> {
  const { result, error } = answer
  const judged = kind === 'updates' ? UPDATE_NAMES : OWN_NAME
  /** Number of names read, as long as none was removed. */
  let names = 0
  let isChanged = false
  const remove = (object: Record<string, unknown>, isWrong: (name: string) => boolean): void => {
    for (const name of Object.keys(object).filter(isWrong)) {
      delete object[name]
      isChanged = true
    }
  }
  /** As deep as an answer may be, which is not deep (exact-json.ts). */
  const clean = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(clean)
    if (!isObject(value) || isRawNumber(value)) return
    for (const name in value) {
      names++
      if (judged.isImpostor(name)) {
        delete value[name]
        isChanged = true
      } else clean(value[name])
    }
  }
  const other = answer['ok'] === true ? 'error' : 'result'
  remove(answer, (name) => name === other || ENVELOPE_NAMES.isImpostor(name))
  if (isObject(error)) remove(error, (name) => ERROR_NAMES.isImpostor(name))
  names += Object.keys(answer).length
  const isRewritten = (): boolean => isChanged || names !== countNames(text)
  const isList = Array.isArray(result) && isLong(text)
  for (const name in answer) if (name !== 'result' || !isList) clean(answer[name])
  return isList ? cleanInSlices(result, clean).then(isRewritten) : isRewritten()
}

async function cleanInSlices(list: unknown[], clean: (value: unknown) => void): Promise<void> {
  for await (const one of inSlices(list)) clean(one)
}
