import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface Delivery {
  headers: IncomingHttpHeaders
  method: string | undefined
  path: string | undefined
  update: { updateId: number; kind: string; message: { text: string } }
}

/** A bot's webhook on this machine. */
export interface Receiver extends AsyncDisposable {
  url: string
  deliveries: Delivery[]
  /** What the next deliveries are answered with; 0 means never. 200 when it runs out. */
  statuses: number[]
  /** Waits until as many deliveries came in all. */
  until(count: number): Promise<void>
}

export async function createReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const statuses: number[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const update = await json(request)
    const { headers, method, url: path } = request
    deliveries.push({ headers, method, path, update: update as Delivery['update'] })
    server.emit('delivered')
    const status = statuses.shift() ?? 200
    if (status === 0) return
    const location = status >= 300 && status < 400 ? { location: '/elsewhere' } : {}
    response.writeHead(status, location).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    statuses,
    async until(count) {
      while (deliveries.length < count) await once(server, 'delivered')
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
