/**
 * The token of a sandbox's control and page. On loopback there is none, as long as none is given;
 * other machines and containers must present it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { bearerOf } from '../../api/bot.ts'
import { isLoopback, valuesOf } from '../../util/local-door.ts'
import { usageError } from '../../errors.ts'

const GIVEN = /^[\w-]{32,128}$/

/**
 * The token of listeners on an address: the given one, a new one of 32 bytes, or null on loopback.
 * @throws OperatorError `usage` when the given one could be guessed or fits in no address
 */
export function controlTokenFor(host: string, given?: string): string | null {
  if (given === undefined) return isLoopback(host) ? null : randomBytes(32).toString('base64url')
  if (GIVEN.test(given)) return given
  throw usageError(
    'the control token is not 32 to 128 of A-Z, a-z, 0-9, "_" and "-"',
    'set POSTERN_SANDBOX_CONTROL_TOKEN to what `openssl rand -hex 32` prints, or leave it out',
  )
}

/** Whether two texts are the same, in a time that does not depend on them. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(one), digest(other))
}

/**
 * Whether a request presents the token: as `Bearer`, or as the password of `Basic`, which HTTP
 * clients make of a URL's user and password.
 */
export function presentsToken(rawHeaders: readonly string[], token: string): boolean {
  const [line, ...more] = valuesOf(rawHeaders, 'authorization')
  const found = more.length > 0 ? null : (bearerOf(line) ?? passwordOf(line))
  return found !== null && isSameText(found, token)
}

/**
 * The cookie by which a page presents the token, with its value. Ports of one host share cookies, so
 * each token has a name of its own.
 */
export const cookieOf = (token: string): string =>
  `postern_${hash('sha256', token).slice(0, 16)}=${token}`

/** Whether a request has a cookie, in any of its lines. @param cookie with its value */
export function hasCookie(rawHeaders: readonly string[], cookie: string): boolean {
  const pairs = valuesOf(rawHeaders, 'cookie').flatMap((line) => line.split(';'))
  return pairs.some((pair) => isSameText(pair.trim(), cookie))
}

/** The path of a page that gives its cookie. */
export const entryPath = (token: string): string => `/?token=${token}`

/** The address of a listener with its token as the password; any user is accepted beside it. */
export const addressWithToken = (url: string, token: string | null): string =>
  token === null ? url : url.replace('://', `://postern:${token}@`)

/** An address without its password, and the header that presents it. */
export function splitAddress(url: string): { url: string; headers: Record<string, string> } {
  const { password, username } = new URL(url)
  if (password === '' && username === '') return { url, headers: {} }
  const bare = url.replace(/^([^:]+:\/\/)[^/@]*@/, '$1')
  return { url: bare, headers: password === '' ? {} : { authorization: `Bearer ${password}` } }
}

function passwordOf(line: string | undefined): string | null {
  const [, encoded] = /^basic +([\w+/]+={0,2})$/i.exec(line ?? '') ?? []
  if (encoded === undefined) return null
  const [, password] = /^[^:]*:([^]*)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return password ?? null
}
