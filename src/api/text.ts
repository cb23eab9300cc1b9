import { LIMITS, FIXED_LIMITS } from './limits.ts'

// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * Why a readable chat refuses a `text` (spec, POST /messages); null when it does not.
 * @param textMax greatest length in UTF-16 units
 */
export function textProblem(text: string, textMax: number = LIMITS.textMax): string | null {
  if (text.trim() === '') return 'text: must not be blank'
  if (text.length > textMax) return `text: must be at most ${textMax} UTF-16 code units`
  if (!text.isWellFormed()) return 'text: must not hold a lone surrogate'
  if (FORBIDDEN.test(text)) return 'text: must hold no control characters but newline and tab'
  return null
}

/**
 * The shape that the service gives readable text on delivery (spec, Message): CR LF and CR become
 * LF, control characters go, two or more empty lines become one, the ends are trimmed, and text
 * over 4000 UTF-16 units (or `max`) is cut, never through a surrogate pair.
 */
export function deliveredText(text: string, max: number = FIXED_LIMITS.deliveredTextMax): string {
  const shaped = text
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return shaped.length <= max ? shaped : shaped.slice(0, max).replace(/[\ud800-\udbff]$/, '')
}
