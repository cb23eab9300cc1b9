/** How things are written for people. */

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
})
const NUMBER = new Intl.NumberFormat('en')

/** @param {number} ms */
export function formatTime(ms) {
  return TIME.format(ms)
}

/** @param {number} ms */
export function formatSeconds(ms) {
  return SECONDS.format(ms)
}

/** @param {number} ms */
export function formatExactTime(ms) {
  return EXACT.format(ms)
}

/** @param {number} ms */
export function formatDay(ms) {
  return DAY.format(ms)
}

/** @param {number} count */
export function formatNumber(count) {
  return NUMBER.format(count)
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function formatCount(count, one, many = `${one}s`) {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
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
