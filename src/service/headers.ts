import manifest from '../../package.json' with { type: 'json' }

/**
 * The headers of an answer that reach the bot: of the body (type, language, range), pace
 * (RFC 9110, 10.2.3; the RateLimit fields and their older spelling), deprecation (RFC 9745,
 * RFC 8594), methods, and the call's id for the service's operators. Our side writes the length.
 */
const HANDED_ON = new Set([
  'content-type',
  'content-language',
  'content-range',
  'accept-ranges',
  'retry-after',
  'ratelimit',
  'deprecation',
  'sunset',
  'allow',
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'correlation-id',
  'x-trace-id',
])
const PACE = /^(?:x-)?ratelimit-/
/** A type that names UTF-8, or no encoding at all. */
const UTF8_TYPE = /^[^;,]*(?:;\s*charset="?utf-?8"?\s*)?$/i
/** Characters of a header line that node:http accepts for writing. */
const WRITABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
/** A Date header is cut to whole seconds (RFC 9110, 5.6.7). */
const RESOLUTION_MS = 1000

/** All that a request to the service carries; nothing of the bot's own headers is among it. */
export const requestHeaders = (token: string, body: 'body' | 'none'): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': `postern/${manifest.version}`,
  ...(body === 'body' && { 'content-type': 'application/json' }),
})

/** The same for an attachment, which is public: no token goes there. */
export function mediaHeaders(): Record<string, string> {
  const { authorization: _none, ...rest } = requestHeaders('', 'none')
  return { ...rest, accept: '*/*' }
}

/**
 * Picks the headers of an answer that may be handed on to the bot, by an allow list.
 * @param received names in lower case; repeated lines as a list
 * @returns one line a name, repeated ones joined by a comma; none that `Connection` names
 */
export function handedOn(
  received: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const kept: Record<string, string> = {}
  const named = joined(received['connection'])
    .toLowerCase()
    .split(/\s*,\s*/)
  for (const name in received) {
    if (!(HANDED_ON.has(name) || PACE.test(name)) || named.includes(name)) continue
    const value = joined(received[name])
    if (WRITABLE.test(value)) kept[name] = value
  }
  return kept
}

/**
 * The headers of a body in UTF-8. Under another charset a bot would read other text than we do: in
 * UTF-7 a name such as `+ACI-` is a quotation mark.
 */
export function inUtf8(headers: Record<string, string>): Record<string, string> {
  const { 'content-type': type } = headers
  if (type === undefined || UTF8_TYPE.test(type)) return headers
  return { ...headers, 'content-type': 'application/json; charset=utf-8' }
}

/** A header's value, repeated lines joined; empty when it is missing. */
export const joined = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '')

/** The date of the last answer: those of one second have the same. */
let last = { date: '', ms: Number.NaN }

/**
 * How far our clock is surely ahead of the service's, in milliseconds; negative when behind.
 * The answer was dated between our request and its arrival, and the date is cut to the second: a
 * difference that this explains counts as 0.
 * @param date the Date header's value; `sentAt`, `gotAt` our clock, ms since epoch
 * @returns null when there is no valid date
 */
export function clockSkewMs(date: string, sentAt: number, gotAt: number): number | null {
  if (date !== last.date) last = { date, ms: HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN }
  const theirs = last.ms
  if (Number.isNaN(theirs)) return null
  const least = sentAt - (theirs + RESOLUTION_MS)
  const most = gotAt - theirs
  if (least > 0) return least
  return most < 0 ? most : 0
}
