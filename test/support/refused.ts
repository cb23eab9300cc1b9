import { expect } from 'vitest'

type Words = string | RegExp

const containing = (words: Words): unknown =>
  typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words)

/** Matches an error with this code and these words in its message and its hint: for `toThrow`. */
export function refused(
  code: string,
  message: Words = '',
  more: { hint?: Words; [field: string]: unknown } = {},
) {
  const { hint, ...fields } = more
  const hinted = hint === undefined ? {} : { hint: containing(hint) }
  return expect.objectContaining({
    code,
    message: containing(message),
    ...hinted,
    ...fields,
  }) as Error
}
