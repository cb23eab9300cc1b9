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

/** Starts one, which ends with the tests of the file. */
export async function startAlertReceiver(): Promise<AlertReceiver> {
  const posted: Json[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      posted.push(JSON.parse(body))
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, posted }
}
