/** What one looks for among the calls, and what one marked. */

/**
 * @typedef {import('./calls.js').Row} Row
 * @typedef {{ who: string, route: string, status: string, words: string, hasIdle: boolean, hasErrorsOnly: boolean, marked: ReadonlySet<string> }} Inspector
 */

/** @type {Inspector} */
export const NO_FILTER = {
  who: '',
  route: '',
  status: '',
  words: '',
  hasIdle: false,
  hasErrorsOnly: false,
  marked: new Set(),
}

/** The statuses that one can look for: the first digit, or that there is none yet. */
export const STATUSES = [
  ['2', '2xx, done'],
  ['4', '4xx, refused'],
  ['5', '5xx, failed'],
  ['0', 'not answered'],
]

/**
 * The rows that one looks for.
 * @param {Row[]} rows
 * @param {Inspector} by
 */
export function found(rows, { who, route, status, words, hasIdle, hasErrorsOnly }) {
  const sought = words.trim().toLowerCase()
  return rows.filter(
    (row) =>
      (hasIdle || !row.isIdle) &&
      (who === '' || row.legs.some(({ from, over }) => from === who || over === who)) &&
      (route === '' || row.route === route) &&
      (status === '' || String(row.status).startsWith(status)) &&
      (!hasErrorsOnly || row.legs.some((leg) => leg.status >= 400)) &&
      (sought === '' || textOf(row).includes(sought)),
  )
}

/** @type {WeakMap<Row, string>} */
const texts = new WeakMap()

/** All that one can search of a row, in small letters. @param {Row} row */
function textOf(row) {
  const known = texts.get(row)
  if (known !== undefined) return known
  const { from, over, legs, code } = row
  const parts = legs.map(({ method, path, status, request, answer }) =>
    [method, path, status, request, answer].join('\n'),
  )
  const text = [from, over, code, ...parts].join('\n').toLowerCase()
  texts.set(row, text)
  return text
}

/** Every value once, in order. @param {string[]} values */
export function distinct(values) {
  return [...new Set(values)].toSorted((one, other) => one.localeCompare(other))
}
