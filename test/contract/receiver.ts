import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** One request to the webhook, as received. */
export interface Delivery {
  method: string
  path: string
  rawHeaders: readonly string[]
  headers: IncomingMessage['headers']
  body: string
}

/** A bot's webhook on this machine. */
export interface Receiver extends AsyncDisposable {
  url: string
  deliveries: Delivery[]
  /** Status for the next deliveries, in order; 0 is no answer at all, 200 when it runs out. */
  answers: number[]
  /** Waits for so many deliveries in all. */
  until(count: number): Promise<void>
}

/** @param answers the first statuses */
export async function createReceiver(answers: number[] = []): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers, rawHeaders } = request
    deliveries.push({ method, path, headers, rawHeaders, body: await text(request) })
    server.emit('delivered')
    const status = answers.shift() ?? 200
    if (status === 0) return
    const isRedirect = status >= 300 && status < 400
    response.writeHead(status, isRedirect ? { location: '/elsewhere' } : {}).end()
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    answers,
    until: async (count) => {
      while (deliveries.length < count) await once(server, 'delivered')
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
