/** What makes a URL or an address usable. Messages do not repeat it: it may hold secrets. */
import { isLoopback } from '../util/local-door.ts'

/** Whether a URL shows the network what goes over it: http, and not on loopback. */
export function isPlainHttp(text: string): boolean {
  const { protocol, hostname } = new URL(text)
  return protocol === 'http:' && !isLoopback(hostname)
}

/** Where the service's paths begin below its base URL. */
const API_PREFIX = /\/bot(\/v\d+)?\/*$/

/** A base URL in one spelling: without a slash at its end. */
export function baseUrlOf(text: string): string {
  const { origin, pathname } = new URL(text)
  return origin + pathname.replace(/\/+$/, '')
}

/**
 * All problems of a base URL (spec, paths), or null. It may have a path, as behind a proxy or for a
 * world of the sandbox. Plain http is judged elsewhere, for it depends on another setting.
 */
export function describeUrlProblem(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'expected an http or https URL such as https://api.example.org'
  }
  const extra = [
    text.includes('@') ? 'credentials' : null,
    API_PREFIX.test(url.pathname) ? '/bot/v1' : null,
    text.includes('?') ? 'a query' : null,
    text.includes('#') ? 'a fragment' : null,
  ].filter((part) => part !== null)
  return extra.length === 0 ? null : `expected the service’s base URL, without ${extra.join(', ')}`
}

/**
 * The problem of an egress proxy's URL, or null. A raw `@` behind the host is mostly of a password with
 * a raw `/`, the rest of which would be read as host.
 */
export function describeProxyProblem(text: string): string | null {
  const { protocol = '', pathname = '', search = '', hash = '' } = URL.parse(text) ?? {}
  return /^https?:$/.test(protocol) && !/[@#]/.test(pathname + search + hash)
    ? null
    : 'expected the URL of a proxy such as http://proxy.example.org:3128, with other characters in user and password escaped by percent signs'
}
