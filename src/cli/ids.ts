import { OperatorError } from '../errors.ts'

/**
 * Reads the id of a person or a chat as it was typed.
 * @param what stands in the refusal, @param hint says where such ids are shown
 * @throws OperatorError `usage`
 */
export function parseId(text: string, what: 'chat' | 'person', hint: string): number {
  const id = Number(text)
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(id)) return id
  throw new OperatorError('usage', `a ${what} id is a whole number`, hint)
}
