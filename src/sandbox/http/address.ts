import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { hostNames } from '../../util/local-door.ts'

export const LOOPBACK = '127.0.0.1'
const WILDCARDS = new Set(['0.0.0.0', '::'])

/** Where both listeners are reached. */
export interface SandboxAddress {
  /** Address to listen on; 127.0.0.1 by default. */
  host?: string | undefined
  /** Names that callers may use for it, beside the loopback ones and `host`. */
  allowedHosts?: readonly string[]
}

/**
 * The names under which a sandbox may be called. One that listens on every interface is also known
 * by this machine's name and addresses: none of them can be made to point elsewhere by a web page.
 */
export const knownHosts = ({ host = LOOPBACK, allowedHosts = [] }: SandboxAddress) =>
  hostNames([...allowedHosts, host, ...(WILDCARDS.has(host) ? ownNames() : [])])

function ownNames(): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  return [hostname(), ...interfaces.map(({ address }) => address)]
}

/**
 * Listens. Gives the URL, without a trailing slash: of a sandbox on every interface by its first
 * allowed name, or on loopback.
 */
export async function listen(
  app: FastifyInstance,
  { host = LOOPBACK, allowedHosts = [], port }: SandboxAddress & { port: number },
): Promise<string> {
  await app.listen({ host, port })
  const { port: bound } = app.server.address() as AddressInfo
  const name = WILDCARDS.has(host) ? (allowedHosts[0] ?? LOOPBACK) : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${bound}`
}
