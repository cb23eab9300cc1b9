/** Checks the service's TLS certificate. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { isLoopback } from '../../util/local-door.ts'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

const WITHIN_MS = 10_000
const NOTABLE_DAYS = 14
const DAY_MS = 86_400_000
/** Errors before the first byte of TLS; the last is ours, of no answer in time. */
const UNCONNECTED =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ABORT_ERR)$/

/**
 * Shakes hands with the service once. Whether the certificate is trusted follows the same rules as
 * every call: its name, its dates, and the authorities of the system or of `caFile`.
 * @param url base URL of the service
 * @param o `isProxied`: calls go through a proxy, which this check does not use
 * @returns no line without any connection: the check of the service reports the cause
 */
export async function checkTls(
  url: string,
  { caFile, isProxied }: { caFile: string | undefined; isProxied: boolean },
): Promise<CheckLine[]> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol === 'http:') {
    return isLoopback(hostname)
      ? [pass('tls', 'none, and none is needed on loopback')]
      : [warn('tls', 'none: plain http', 'whoever is on the way reads the token; use https')]
  }
  if (isProxied) return [pass('tls', 'looked at by each call, through the proxy')]
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  try {
    return [await shakeHands(host, Number(port || 443), caFile)]
  } catch (error) {
    const { code = 'unknown', path } = error as NodeJS.ErrnoException
    if (path !== undefined && path === caFile) {
      const hint = 'upstream.caFile must name a file of PEM certificates that this user may read'
      return [fail('tls', `${path} cannot be read (${code})`, hint)]
    }
    return UNCONNECTED.test(code) ? [] : [untrusted(url, code)]
  }
}

async function shakeHands(host: string, port: number, caFile: string | undefined) {
  const name = isIP(host) === 0 ? { servername: host } : {}
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) }
  const socket = connect({ host, port, minVersion: 'TLSv1.2', ...name, ...ca })
  // Later errors have no effect.
  socket.on('error', () => {})
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(WITHIN_MS) })
    return describe(socket)
  } finally {
    socket.destroy()
  }
}

function untrusted(url: string, code: string): CheckLine {
  const { hostname, host } = new URL(url)
  return /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/.test(code)
    ? fail('tls', `${host} does not speak TLS (${code})`, 'check scheme and port of upstream.url')
    : fail(
        'tls',
        `no trusted connection to ${hostname} (${code})`,
        'the service’s certificate must be valid for this name; a private authority goes into upstream.caFile',
      )
}

function describe(socket: TLSSocket): CheckLine {
  const { valid_to: until } = socket.getPeerCertificate()
  const days = Math.floor((Date.parse(until) - Date.now()) / DAY_MS)
  const message = `${socket.getProtocol()}, certificate good for ${days} more days`
  return days < NOTABLE_DAYS
    ? warn('tls', message, 'the service should renew it; calls stop when it ends')
    : pass('tls', message)
}
