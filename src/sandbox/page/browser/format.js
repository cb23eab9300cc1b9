/** How things are written for people. */

/** @param {Intl.DateTimeFormatOptions} options */
function dateFormat(options) {
  const format = new Intl.DateTimeFormat('en-GB', options)
  return (/** @type {number} */ ms) => format.format(ms)
}

export const formatTime = dateFormat({ timeStyle: 'short' })
export const formatSeconds = dateFormat({ timeStyle: 'medium' })
export const formatExactTime = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' })
export const formatDay = dateFormat({ dateStyle: 'full' })
const NUMBER = new Intl.NumberFormat('en')
/** @param {number} count */
export const formatNumber = (count) => NUMBER.format(count)

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function formatCount(count, one, many = `${one}s`) {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

/** @param {number | undefined} ms */
export function formatDuration(ms) {
  if (ms === undefined) return ''
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** @param {number} bytes */
export function formatBytes(bytes) {
  if (bytes < 1000) return formatCount(bytes, 'byte')
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`
}

/** @param {string} fingerprint */
export function formatFingerprint(fingerprint) {
  return (fingerprint.toUpperCase().match(/.{1,4}/g) ?? []).join(' ')
}

/** @param {unknown} value */
export function formatJson(value) {
  return JSON.stringify(value, null, 2)
}
