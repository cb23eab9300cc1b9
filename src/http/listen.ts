import { lstat, stat, unlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { OperatorError } from '../errors.ts'
import { forOwnerAlone } from '../util/file-owners.ts'
import { knock } from '../util/local-door.ts'
import { isTls } from './door-tls.ts'

/** Where to listen. `setting` is the group of settings that configures it, for hints. */
export type ListenAt =
  | { setting: 'listen' | 'admin'; host: string; port: number }
  | { setting: 'listen'; socket: string }

const WHY = new Map([
  ['EADDRINUSE', 'something else listens there'],
  ['EACCES', 'this user may not'],
  ['EADDRNOTAVAIL', 'it is no address of this machine'],
  ['ENOTFOUND', 'the name has no address'],
  ['ENOENT', 'its folder is not there'],
])

/**
 * Opens a door. Port 0 means any free one. A unix socket is 0600 from the moment it exists; one
 * that a dead process left behind is replaced.
 * @returns the actual address: `http://host:port` or `https://`, or `unix:/path`
 * @throws OperatorError `listen`
 */
export async function listenAt(app: FastifyInstance, at: ListenAt): Promise<string> {
  await app.ready()
  return 'socket' in at ? listenOnSocket(app, at.socket) : listenOnPort(app, at)
}

async function listenOnPort(
  app: FastifyInstance,
  { setting, host, port }: { setting: string; host: string; port: number },
): Promise<string> {
  const name = host.includes(':') ? `[${host}]` : host
  const refuse = refusalAt(`${name}:${port}`, `${setting}.port`)
  await app.listen({ host, port }).catch(refuse)
  const address = app.server.address()
  if (address === null || typeof address === 'string') return refuse(null)
  return `${isTls(app.server) ? 'https' : 'http'}://${name}:${address.port}`
}

async function listenOnSocket(app: FastifyInstance, path: string): Promise<string> {
  const refuse = refusalAt(path, 'listen.socket')
  await makeRoom(path, refuse)
  // Node makes the socket within the call of `listen`
  const { server }: { server: Server } = app
  const listen = server.listen.bind(server) as (...args: unknown[]) => Server
  server.listen = (...args: unknown[]) => forOwnerAlone(() => listen(...args))
  await app.listen({ path }).catch(refuse)
  return `unix:${path}`
}

async function makeRoom(path: string, refuse: (cause: unknown) => never): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => null)
  if (folder?.isDirectory() !== true) return refuse({ code: 'ENOENT' })
  const there = await lstat(path).catch(() => null)
  if (there === null) return
  if (!there.isSocket()) {
    throw new OperatorError(
      'listen',
      `${path} is there already and is not a socket`,
      'move it away, or choose another path with `listen.socket`',
      { exitCode: 2 },
    )
  }
  const answered = await knock(path)
  if (answered !== 'ECONNREFUSED') return refuse({ code: answered })
  await unlink(path)
}

/** Throws OperatorError `listen` for an address, by the `code` of a cause. */
const refusalAt =
  (where: string, setting: string) =>
  (cause: unknown): never => {
    const code = String((cause as { code?: unknown } | null)?.code)
    const why = WHY.get(code) ?? `the system says ${code}`
    const choose = `choose another place with \`${setting}\``
    const hint = code === 'EADDRINUSE' ? `stop what listens there, or ${choose}` : choose
    // What this user may not do, a later start may not either.
    const options = { cause, exitCode: code === 'EACCES' ? 2 : undefined } as const
    throw new OperatorError('listen', `cannot listen on ${where}: ${why}`, hint, options)
  }
