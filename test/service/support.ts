import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Outbound } from '../../src/kernel/wall/guard.ts'
import { listening } from '../support/listening.ts'
import { markupPermit } from '../support/permits.ts'
import { UpstreamClient } from '../../src/service/client.ts'
import type { Upstream, UpstreamEvents, UpstreamOptions } from '../../src/service/client.ts'

export const TOKEN = 'bot_7.' + 't'.repeat(43)

/** What a service saw of one request. */
export interface SeenRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export type Handler = (
  seen: SeenRequest,
  response: ServerResponse,
  nth: number,
  request: IncomingMessage,
) => void

/** A service on 127.0.0.1 that does whatever the handler says. */
export async function service(handler: Handler): Promise<{ url: string; seen: SeenRequest[] }> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const body = Buffer.concat(chunks).toString()
      seen.push({ method, url, headers, body })
      handler({ method, url, headers, body }, response, seen.length, request)
    })
  })
  return { url: await listening(server), seen }
}

/**
 * A listener that speaks bytes. `onRequest` is called once a socket has sent something, with how
 * many requests have come in all.
 */
export async function rawService(
  onRequest: (socket: Socket, nth: number, bytes: string) => void,
): Promise<{ url: string; sockets: Socket[]; closed: () => number }> {
  const sockets: Socket[] = []
  let requests = 0
  let closed = 0
  const server = createTcpServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {}).on('close', () => closed++)
    socket.on('data', (chunk) => onRequest(socket, ++requests, chunk.toString('latin1')))
  })
  return { url: await listening(server), sockets, closed: () => closed }
}

/** Answers in the envelope. */
export function ok(response: ServerResponse, result: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ok: true, result }))
}

/** Refuses in the envelope. */
export function no(
  response: ServerResponse,
  status: number,
  code: string,
  extra: { error?: object; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...extra.headers })
  const error = { status, code, message: `the double says ${code}`, ...extra.error }
  response.end(JSON.stringify({ ok: false, error }))
}

/** The door, closed when the test ends, and everything that it told. */
export function door(
  baseUrl: string,
  o: Partial<UpstreamOptions> = {},
): { upstream: Upstream; emitted: [name: string, value?: unknown][] } {
  const emitted: [string, unknown?][] = []
  const events: UpstreamEvents = {
    answered: (value) => emitted.push(['answered', value]),
    unreachable: ({ code }) => emitted.push(['unreachable', code]),
    unauthorized: () => emitted.push(['unauthorized']),
    paused: () => emitted.push(['paused']),
    clock: (skewMs) => emitted.push(['clock', skewMs]),
    budget: (value) => emitted.push(['budget', value]),
  }
  const upstream = new UpstreamClient({
    baseUrl,
    token: { reveal: () => TOKEN, reload: () => Promise.resolve(false) },
    ownCallsPerMinute: () => 100,
    events,
    ...o,
    limits: { retryPauseMs: 5, ...o.limits },
  })
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  return { upstream, emitted }
}

/** A service that does whatever the handler says, and a door to it. */
export async function doorTo(handler: Handler, o: Partial<UpstreamOptions> = {}) {
  const { url, seen } = await service(handler)
  return { url, seen, ...door(url, o) }
}

/** What the guard lets out: the buttons of a message, as a send or an edit. */
export const outbound = {
  send: (path = '/messages'): Outbound => markupPermit({ route: 'send', path, later: null }),
  edit: (): Outbound => markupPermit({ route: 'edit', path: '/messages/3', later: null }),
}

/** A signal that nobody aborts. */
export const waiting = (): AbortSignal => new AbortController().signal

/** The error that a promise ends with. */
export const failing = (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> =>
  promise.then(
    () => Promise.reject(new Error('nothing failed')),
    (error: unknown) => error as Error & Record<string, unknown>,
  )
