/** Checks the service's TLS certificate. */
import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { fail, pass, warn, type CheckLine } from './check-line.ts'

const LOOPBACK = /^(localhost|127\..*|\[::1\])$/
const WITHIN_MS = 10_000
const NOTABLE_DAYS = 14
const DAY_MS = 86_400_000

/**
 * Shakes hands with the service once. Whether the certificate is trusted follows the same rules as
 * every call: its name, its dates, and the authorities of the system or of `ca`.
 * @param url base URL of the service
 * @param o `proxied`: the way goes through a proxy, which calls take and this look does not
 */
export async function checkTls(
  url: string,
  o: { ca: string | undefined; proxied: boolean },
): Promise<CheckLine> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol === 'http:') {
    return LOOPBACK.test(hostname)
      ? pass('tls', 'none, and none is needed on loopback')
      : warn('tls', 'none: plain http', 'whoever is on the way reads the token; use https')
  }
  if (o.proxied) return pass('tls', 'looked at by each call, through the proxy')
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const name = isIP(host) === 0 ? { servername: host } : {}
  const ca = o.ca === undefined ? {} : { ca: o.ca }
  const socket = connect({ host, port: Number(port || 443), minVersion: 'TLSv1.2', ...name, ...ca })
  try {
    await secured(socket)
    return describe(socket)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return fail(
      'tls',
      `no trusted connection to ${host} (${code})`,
      'the service’s certificate must be valid for this name; a private authority goes into upstream.caFile',
    )
  } finally {
    socket.destroy()
  }
}

async function secured(socket: TLSSocket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.setTimeout(WITHIN_MS, () => {
    reject(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' }))
  })
  socket.once('secureConnect', resolve).once('error', reject)
  await promise
}

function describe(socket: TLSSocket): CheckLine {
  const { valid_to: until } = socket.getPeerCertificate()
  const days = Math.floor((Date.parse(until) - Date.now()) / DAY_MS)
  const message = `${socket.getProtocol()}, certificate good for ${days} more days`
  return days < NOTABLE_DAYS
    ? warn('tls', message, 'the service should renew it; calls stop when it ends')
    : pass('tls', message)
}
