/** A body as lines of JSON, and which of them the other body does not have. */
import { parsed } from './bot-view.js'

/** @typedef {{ text: string, identity: string }} BodyLine */

/** A longer text is shown by its beginning. */
const LONG = 400

/**
 * The lines of a body; one line where it is no JSON.
 * @param {string} body
 * @param {boolean} isWhole whether long texts are shown in full
 * @returns {BodyLine[]}
 */
export function bodyLines(body, isWhole) {
  if (body === '') return []
  const value = parsed(body)
  if (value === null) return [{ text: shortened(body, isWhole), identity: body }]
  return [...linesOf(value, { path: '', indent: '', name: '', end: '', isWhole })]
}

/** Whether a body has texts that are shown by their beginning alone. @param {string} body */
export function hasLong(body) {
  return bodyLines(body, false).some(({ text }) => text.includes(' characters in all'))
}

/**
 * @param {unknown} value
 * @param {{ path: string, indent: string, name: string, end: string, isWhole: boolean }} place
 * @returns {Generator<BodyLine>}
 */
function* linesOf(value, { path, indent, name, end, isWhole }) {
  const head = `${indent}${name === '' ? '' : `${JSON.stringify(name)}: `}`
  if (typeof value !== 'object' || value === null) {
    const json = JSON.stringify(value)
    const text = typeof value === 'string' ? shortened(json, isWhole) : json
    yield { text: `${head}${text}${end}`, identity: `${path}=${json}` }
    return
  }
  const isList = Array.isArray(value)
  const entries = Object.entries(value)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) {
    yield { text: `${head}${open}${close}${end}`, identity: `${path}=${open}${close}` }
    return
  }
  yield { text: `${head}${open}`, identity: `${path}${open}` }
  for (const [index, [key, part]] of entries.entries()) {
    yield* linesOf(part, {
      path: `${path}/${key}`,
      indent: `${indent}  `,
      name: isList ? '' : key,
      end: index < entries.length - 1 ? ',' : '',
      isWhole,
    })
  }
  yield { text: `${indent}${close}${end}`, identity: `${path}${close}` }
}

/** @param {string} json @param {boolean} isWhole */
function shortened(json, isWhole) {
  if (isWhole || json.length <= LONG) return json
  return `${json.slice(0, LONG / 2)} … ${json.length} characters in all`
}
