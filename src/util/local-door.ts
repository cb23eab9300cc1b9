/**
 * Callers of a local listener: programs that use one of our own names, never a web page.
 * Reads the raw header lines, because a merged view hides duplicates.
 */
import { once } from 'node:events'
import { BlockList, connect, isIPv4, isIPv6 } from 'node:net'
import { REFUSALS } from '../refusals.ts'

/** Why a request is refused before anything else is read. */
export interface DoorProblem {
  status: number
  code: 'bad_request' | 'postern_host_refused' | 'postern_browser_refused'
  /** For people, with what to do. */
  message: string
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i
const WILDCARDS = new Set(['0.0.0.0', '::'])
/** Values of Sec-Fetch-Site for a page's own calls, and for an address that a person opens. */
const OWN_SITES: ReadonlySet<string> = new Set(['none', 'same-origin'])

/**
 * The known hosts beside the loopback names, in the shape that `doorProblem` compares.
 * @param names host names or addresses without a port, in any spelling; an address that means
 *   "every interface" is nobody's name and is left out
 */
export function hostNames(names: Iterable<string>): ReadonlySet<string> {
  const known = new Set<string>()
  for (const name of names) if (!WILDCARDS.has(name)) known.add(canonical(name))
  return known
}

/**
 * Judges a request by its headers alone. Ports are not compared: behind a port mapping they
 * differ from ours, and a rebound name is caught by the name.
 * @param rawHeaders names and values in turn, as node:http gives them
 * @param allowedHosts from `hostNames`; loopback names are always known
 * @returns null when the request may go on
 */
export const doorProblem = (
  rawHeaders: readonly string[],
  allowedHosts: ReadonlySet<string>,
): DoorProblem | null => hostProblem(rawHeaders, allowedHosts) ?? browserProblem(rawHeaders)

/**
 * Judges a request to a page that the listener itself serves: of browsers, only that page and a
 * person who opens it may call.
 * @param rawHeaders, allowedHosts as for `doorProblem`
 */
export function ownPageProblem(
  rawHeaders: readonly string[],
  allowedHosts: ReadonlySet<string>,
): DoorProblem | null {
  const problem = hostProblem(rawHeaders, allowedHosts)
  if (problem !== null) return problem
  const own = `http://${valuesOf(rawHeaders, 'host')[0]?.trim()}`
  const isOurs =
    valuesOf(rawHeaders, 'origin').every((origin) => origin === own) &&
    valuesOf(rawHeaders, 'sec-fetch-site').every((site) => OWN_SITES.has(site))
  return isOurs ? null : refused('postern_browser_refused')
}

/** The half of `doorProblem` that also holds for health probes, which may use any Host. */
export function browserProblem(rawHeaders: readonly string[]): DoorProblem | null {
  const sites = valuesOf(rawHeaders, 'sec-fetch-site')
  if (valuesOf(rawHeaders, 'origin').length > 0 || sites.some((site) => site !== 'none')) {
    return refused('postern_browser_refused')
  }
  return null
}

/** Every value of a header, one a line. `name` in lower case. */
export function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let line = 0; line + 1 < rawHeaders.length; line += 2) {
    const found = rawHeaders[line] ?? ''
    if (found.length === name.length && found.toLowerCase() === name) {
      values.push(rawHeaders[line + 1] ?? '')
    }
  }
  return values
}

/** The last Host header that was a loopback name: a bot always sends the same one. */
let lastLoopback = ''

function hostProblem(rawHeaders: readonly string[], allowed: ReadonlySet<string>) {
  const [host, ...more] = valuesOf(rawHeaders, 'host')
  if (host === undefined || more.length > 0) return badHost('exactly one Host header is needed')
  if (host === lastLoopback) return null
  const name = HOST.exec(host.trim())?.[1]
  if (name === undefined) return badHost('the Host header is not a host')
  const known = canonical(name)
  if (isLoopback(known)) {
    lastLoopback = host
    return null
  }
  return allowed.has(known) ? null : refused('postern_host_refused')
}

/** True for localhost, 127.0.0.0/8 and ::1, with or without brackets. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}

/** Room in a socket address on Linux, less its closing zero (unix(7)). */
export const SOCKET_PATH_BYTES = 107

/** Knocks at a unix socket. @returns why nobody answers there, or EADDRINUSE when somebody does */
export async function knock(path: string): Promise<string> {
  const socket = connect({ path })
  try {
    await once(socket, 'connect')
    return 'EADDRINUSE'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).name
  } finally {
    socket.destroy()
  }
}

/** @param subnets such as `10.0.0.0/8`, with blanks between them */
export function subnetList(subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.trim().split(/\s+/)) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), isIPv4(net) ? 'ipv4' : 'ipv6')
  }
  return list
}

/** Lower case, no trailing dot, IPv6 without brackets and in its shortest spelling. */
function canonical(name: string): string {
  const bare = name.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  // Node compiles its large pattern of such an address at the first call
  if (bare.includes(':') && isIPv6(bare)) return new URL(`http://[${bare}]`).hostname.slice(1, -1)
  return bare.replace(/\.$/, '')
}

const badHost = (message: string): DoorProblem => ({ status: 400, code: 'bad_request', message })

function refused(code: 'postern_host_refused' | 'postern_browser_refused'): DoorProblem {
  const { status, what, hint } = REFUSALS[code]
  return { status, code, message: `${what}; ${hint}` }
}

/**
 * Fastify's option for listeners whose routes have no schemas of its kind: its compilers, which
 * would need half of the time of a start to load, stay unloaded.
 */
export const NO_SCHEMAS = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
}

function refuseSchema(): never {
  throw new Error('routes have no schemas here')
}
