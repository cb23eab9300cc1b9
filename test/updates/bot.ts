/** Bots with a webhook on this machine: a proper one, and one that answers with raw bytes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions as SecureOptions } from 'node:https'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { listen } from '../support/listening.ts'
import { rawService } from '../service/support.ts'
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
  const { url, sockets } = await rawService((socket, _nth, bytes) => answering(socket, bytes))
  return { port: Number(new URL(url).port), url: `${url}/hook`, connections: sockets }
}
