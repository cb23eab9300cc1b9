import { resultOr } from '../errors.ts'
import { PLAIN } from '../service/path.ts'

const ESCAPE = /%(?![0-9a-f]{2})/i
const ENCODED_SEPARATOR = /%(?:2f|5c)/i
const ENCODED_TWICE = /%25[0-9a-f]{2}/i
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const OUTSIDE_ASCII = /[^\x21-\x7e]/
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const CONTROL = /[\x00-\x1f\x7f]/

/**
 * Why a request target is refused, before any routing. An accepted target
 * means the same to every parser between us and the service.
 * @param target of the request line
 * @returns for people, without repeating the target; null when nothing is wrong
 */
export function pathProblem(target: string, maxChars: number): string | null {
  if (!target.startsWith('/')) return 'the request target must be a path'
  if (target.length > maxChars) return `the path is longer than ${maxChars} characters`
  if (PLAIN.test(target)) return null
  if (OUTSIDE_ASCII.test(target) || /[\\#]/.test(target)) {
    return 'the path holds a character that must be escaped'
  }
  if (ESCAPE.test(target)) return 'the path holds a bad escape'
  const [path = '', ...query] = target.split('?')
  const decoded = decode(path)
  if (decoded === null || decode(query.join('?')) === null) return 'the path is not UTF-8'
  if (CONTROL.test(decoded)) return 'the path holds a control character'
  if (ENCODED_SEPARATOR.test(path)) return 'the path holds an encoded slash'
  if (ENCODED_TWICE.test(path)) return 'the path is encoded twice'
  if (path.includes('//')) return 'the path holds an empty segment'
  if (decoded.split('/').some(isDots)) return 'the path holds a dot segment'
  return null
}

/** True for `.` and `..`, also with the parameters that some servers cut off (`..;x`). */
function isDots(segment: string): boolean {
  const name = segment.split(';', 1)[0]
  return name === '.' || name === '..'
}

const decode = (text: string): string | null => resultOr(() => decodeURIComponent(text), null)
