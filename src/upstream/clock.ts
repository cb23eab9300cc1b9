const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
/** A Date header is cut to whole seconds (RFC 9110, 5.6.7). */
const RESOLUTION_MS = 1000

/**
 * How far our clock is surely ahead of the service's, in milliseconds; negative when behind.
 * The answer was dated between our request and its arrival, and the date is cut to the second: a
 * difference that this explains counts as 0.
 * @param date the Date header's value; `sentAt`, `gotAt` our clock, ms since epoch
 * @returns null when there is no valid date
 */
export function clockSkewMs(date: string, sentAt: number, gotAt: number): number | null {
  const theirs = read(date)
  if (Number.isNaN(theirs)) return null
  const least = sentAt - (theirs + RESOLUTION_MS)
  const most = gotAt - theirs
  if (least > 0) return least
  return most < 0 ? most : 0
}

/** The last that was read: the same one comes with every answer of a second. */
let last = { date: '', ms: Number.NaN }

/** Milliseconds since epoch; NaN for no valid date. */
function read(date: string): number {
  if (date !== last.date) last = { date, ms: HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN }
  return last.ms
}
