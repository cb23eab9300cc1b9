/** Bots with a webhook on this machine: a proper one, and one that answers with raw bytes. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions as SecureOptions } from 'node:https'
import {
  createServer as createRawServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { openScene, until, type SceneOptions } from './support.ts'

export interface Delivery {
  method: string
  path: string
  rawHeaders: string[]
  headers: IncomingMessage['headers']
  body: string
  /** Number of the connection that it came on. */
  connection: number
}

export interface WebhookBot {
  port: number
  url: string
  deliveries: Delivery[]
  /** Words of every message delivered, in order. */
  readonly words: unknown[]
  until: (count: number) => Promise<void>
  close: () => Promise<void>
}

export type Answering = (delivery: Delivery, response: ServerResponse) => void

const fine: Answering = (_delivery, response) => void response.writeHead(200).end()

/** Opens one; it ends with the test. @param o `port` any free one by default */
export async function openBot(
  answering: Answering = fine,
  o: { port?: number; tls?: SecureOptions; host?: string } = {},
): Promise<WebhookBot> {
  const deliveries: Delivery[] = []
  const connections = new WeakMap<Socket, number>()
  let count = 0
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers, rawHeaders, socket } = request
    const connection = connections.get(socket) ?? ++count
    connections.set(socket, connection)
    const body = await text(request)
    const delivery = { method, path, headers, rawHeaders, body, connection }
    deliveries.push(delivery)
    answering(delivery, response)
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void take(request, response).catch(() => undefined)
  const server = o.tls === undefined ? createServer(listener) : createSecureServer(o.tls, listener)
  const { port, close } = await listen(server, o)
  const scheme = o.tls === undefined ? 'http' : 'https'
  return {
    port,
    url: `${scheme}://${o.host ?? '127.0.0.1'}:${port}/hook`,
    deliveries,
    get words() {
      return deliveries.map(({ body }) => JSON.parse(body).message?.text)
    },
    until: async (wanted) => void (await until(() => deliveries.length >= wanted)),
    close: async () => {
      server.closeAllConnections()
      await close()
    },
  }
}

/** A scene whose bot has a webhook set through the sidecar. */
export async function sceneWithWebhook(options: SceneOptions, answering: Answering = fine) {
  const scene = await openScene(options)
  const bot = await openBot(answering)
  await scene.call('POST', '/webhook', { url: bot.url })
  return { scene, bot }
}

/** Opens one that is handed each connection once something came on it. */
export async function openRaw(
  answering: (socket: Socket, request: string) => void,
): Promise<{ port: number; url: string; connections: Socket[] }> {
  const connections: Socket[] = []
  const server = createRawServer((socket) => {
    connections.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => answering(socket, chunk.toString()))
  })
  const { port } = await listen(server, {})
  return { port, url: `http://127.0.0.1:${port}/hook`, connections }
}

async function listen(
  server: Server,
  { port = 0, host = '127.0.0.1' }: { port?: number; host?: string },
): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  onTestFinished(close)
  return { port: (server.address() as AddressInfo).port, close }
}
