import { ENDPOINTS, type Endpoint } from '../api/endpoints.ts'
import { Refusal, resultOr } from '../errors.ts'

/** Paths without anything that a check would refuse, but for their length; most are of this kind. */
export const PLAIN = /^(?:\/[\w-]+)+(?:\?[\w=&,-]*)?$/
const VISIBLE = /^[!-~]+$/
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i
/** Escaped control characters, slash and backslash: a second unescaping would change the path. */
const BAD_ESCAPED = /%(?:[01][0-9a-f]|7f|2f|5c)/i

/**
 * The final check of a path before it is sent: below the API prefix, encoded, perhaps with a query.
 * @throws Refusal `bad_request` for dot segments, empty segments, backslashes, escaped slashes,
 *   control characters, bad escapes, a fragment, or anything beyond ASCII
 */
export function checkPath(path: string): void {
  if (PLAIN.test(path)) return
  const name = withoutQuery(path)
  const sound =
    path.startsWith('/') &&
    VISIBLE.test(path) &&
    !/[\\#]/.test(path) &&
    !BAD_ESCAPE.test(path) &&
    !BAD_ESCAPED.test(name) &&
    !name.includes('//') &&
    !segments(name).some((segment) => segment === '.' || segment === '..')
  if (!sound) throw new Refusal('bad_request', 'the path is not one of the service’s')
}

/** True for calls that carry a body into `/messages`: those are the guard's, however spelt. */
export const isGuarded = (method: string, path: string): boolean =>
  ['POST', 'PUT', 'PATCH'].includes(method) && segments(withoutQuery(path))[0] === 'messages'

const PATTERNS = Map.groupBy(
  ENDPOINTS.map((endpoint) => ({ endpoint, parts: endpoint.path.split('/') })),
  ({ endpoint, parts }) => `${endpoint.method} ${parts.length}`,
)

/** Which endpoint of the spec a call is; null for one that the spec does not have. */
export function endpointOf(method: string, path: string): Endpoint | null {
  const asked = withoutQuery(path).split('/')
  const found = PATTERNS.get(`${method} ${asked.length}`)?.find(({ parts }) =>
    parts.every((part, index) => part.startsWith(':') || part === asked[index]),
  )
  return found?.endpoint ?? null
}

/** A call's name for logs and metrics: few in all, and no identifier in any. */
export const routeOf = (method: string, endpoint: Endpoint | null): string =>
  `${method} ${endpoint?.path ?? 'other'}`

/** Up to the first question mark. */
export const withoutQuery = (path: string): string => path.split('?', 1)[0] ?? ''

const segments = (name: string): string[] =>
  name
    .split('/')
    .slice(1)
    .map((segment) => resultOr(() => decodeURIComponent(segment), segment).toLowerCase())
