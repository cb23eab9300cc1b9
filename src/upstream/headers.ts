import manifest from '../../package.json' with { type: 'json' }

/** Hop-by-hop (RFC 9110, 7.6.1), or the service's own affair with its clients. */
const NOT_HANDED_ON = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'date',
  'server',
])
/** What a header line may hold and node:http will write again. */
const WRITABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** All that a request to the service carries; nothing of the bot's own headers is among it. */
export function requestHeaders(token: string, body: 'body' | 'none'): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': `postern/${manifest.version}`,
    ...(body === 'body' && { 'content-type': 'application/json' }),
  }
}

/** The same for an attachment, which is public: no token goes there. */
export function mediaHeaders(): Record<string, string> {
  const { authorization: _none, ...rest } = requestHeaders('', 'none')
  return { ...rest, accept: '*/*' }
}

/**
 * Which of an answer's headers may be handed on to the bot: all but the hop-by-hop ones (those
 * that `Connection` names included), lengths, cookies, CORS, transport policy, date and server.
 * @param received names in lower case; repeated lines as a list
 * @returns one line a name, repeated ones joined by a comma
 */
export function handedOn(
  received: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const kept: Record<string, string> = {}
  const named = namedBy(joined(received['connection']))
  for (const name in received) {
    if (NOT_HANDED_ON.has(name) || named?.has(name) || name.startsWith('access-control-')) continue
    const value = joined(received[name])
    if (WRITABLE.test(value)) kept[name] = value
  }
  return kept
}

/** Headers that are of this connection alone because `Connection` names them; null for none. */
function namedBy(connection: string): ReadonlySet<string> | null {
  if (connection === '' || connection === 'keep-alive') return null
  return new Set(connection.toLowerCase().split(/\s*,\s*/))
}

/** A header's value, repeated lines joined; empty when it is missing. */
export function joined(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}
