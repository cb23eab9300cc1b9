/** Whom a sidecar alerts: a webhook of an operator that takes every alert. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import type { Json } from './double-wire.ts'

export interface AlertReceiver {
  /** For `alert.url`. */
  readonly url: string
  /** The alerts that came, in their order. */
  readonly posted: readonly Json[]
}

/**
 * Starts one, which ends with the tests of the file.
 * @param o `refused`: so many of the first alerts are answered with 503
 */
export async function startAlertReceiver({ path = '/', refused = 0 } = {}): Promise<AlertReceiver> {
  const posted: Json[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      if (`${request.method} ${request.url}` !== `POST ${path}`)
        return response.writeHead(404).end()
      posted.push(JSON.parse(body))
      return response.writeHead(posted.length > refused ? 204 : 503).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, posted }
}
