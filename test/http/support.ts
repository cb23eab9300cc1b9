/** A door over a real service, both on real sockets, for the tests of this folder. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import type { DoorClients } from '../../src/http/client-calls.ts'
import type { OutboxDoor } from '../../src/http/routes/outbox.ts'
import { buildAdminDoor } from '../../src/http/admin.ts'
import { Health } from '../../src/observe/health.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { showHealth } from '../../src/observe/show.ts'
import { recordRequest } from '../../src/observe/record.ts'
import { Refusal } from '../../src/errors.ts'
import { buildBotDoor, type BotDoorParts, type Door } from '../../src/http/server.ts'
import { callAt } from '../support/bot-call.ts'
import { approvalsOf, editsOf } from '../support/approvals.ts'
import { canaries } from '../support/canaries.ts'
import { watchedLog } from '../support/watched-log.ts'
import { door as serviceDoor, service } from '../service/support.ts'

/** Nobody but the bot calls. */
export const NO_CLIENTS: DoorClients = {
  of: { find: () => null, admit: () => Promise.resolve(OWN_CALL), seesPeople: () => true },
  presses: { chatsOf: () => Promise.resolve([]) },
  shares: { takeCalls: () => {}, begin: () => () => {} },
  only: false,
}

/** Nothing is sent later. */
export const NO_OUTBOX: OutboxDoor = {
  edits: editsOf(),
  give: () => Promise.reject(new Error('nothing is given')),
  refuseCodes: () => {},
  refuseRequest: async () => {},
  clear: ({ chatId, messageId }) =>
    Promise.resolve(approvalsOf().clear({ client: null, chatId, messageId })),
  find: () => Promise.resolve(undefined),
}

/** What the bot presents. */
export const TOKEN = `bot_42.${'t'.repeat(43)}`
/** What the sidecar presents. */
export const SERVICE_TOKEN = `bot_42.${'s'.repeat(43)}`

/** A request as the service got it. */
export interface Seen {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** How the service answers; by default `{ok:true,result:{}}`. */
export type Answering = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void

export interface World {
  door: Door
  /** `http://127.0.0.1:port` */
  url: string
  port: number
  /** Everything that reached the service, in order. */
  seen: Seen[]
  /** Every line that was logged. */
  lines: Record<string, unknown>[]
  metrics: Metrics
}

/** Opens a bot's door before a service; both close when the test ends. */
export async function openDoor(
  o: { answering?: Answering; parts?: Partial<BotDoorParts> } = {},
): Promise<World> {
  const seen: Seen[] = []
  const { answering = (_seen, response) => say(response, {}) } = o
  const { url: serviceUrl } = await service(({ url: path, ...rest }, response, _nth, request) => {
    const entry = { ...rest, path }
    seen.push(entry)
    answering(entry, response, request)
  })
  const lines: Record<string, unknown>[] = []
  const log = watchedLog((line) => lines.push(line))
  for (const token of [TOKEN, SERVICE_TOKEN]) canaries()?.secret(token)
  const metrics = new Metrics()
  const token = { reveal: () => SERVICE_TOKEN, reload: () => Promise.resolve(false) }
  const door = buildBotDoor({
    upstream: serviceDoor(serviceUrl, { token }).upstream,
    log,
    onAnswered: (line) => recordRequest(metrics, line),
    expectedToken: () => TOKEN,
    rereadToken: () => false,
    allowedHosts: [],
    allowUnknown: false,
    outbox: NO_OUTBOX,
    managesKey: true,
    clearFields: { ofCallback: async () => [], taken: () => ({}) },
    clients: NO_CLIENTS,
    guard: { rule: () => Promise.reject(new Refusal('postern_downgrade_refused')) },
    routes: [],
    outside: [],
    onTokenRevoked: () => {},
    ...o.parts,
  })
  onTestFinished(() => door.drain())
  const url = await door.listen({ setting: 'listen', host: '127.0.0.1', port: 0 })
  return { door, url, port: Number(new URL(url).port), seen, lines, metrics }
}

/** An operator's door over its own health, which is drained when the test ends. */
export function adminDoor(allowedHosts: string[] = []) {
  const health = new Health()
  const metrics = new Metrics()
  showHealth(metrics, health)
  const door = buildAdminDoor({
    log: watchedLog(),
    metrics: metrics.registry,
    readiness: () => ({ ready: health.ready, reasons: health.all() }),
    status: () => Promise.resolve({ version: '1', ready: health.ready }),
    allowedHosts,
  })
  onTestFinished(() => door.drain())
  return { door, health }
}

/** Answers as the service does: 200 and a result. */
export function say(response: ServerResponse, result: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ok: true, result }))
}

/** Calls the door as a bot does. */
export async function call(
  world: { url: string },
  method: string,
  path: string,
  more: { body?: unknown; headers?: Record<string, string>; token?: string } = {},
): Promise<{ status: number; headers: Headers; text: string; json: Reply }> {
  const { token = TOKEN, ...rest } = more
  return await callAt(world.url, token, { method, path, prefix: '', ...rest })
}

/** The envelope, either way. */
export interface Reply {
  ok: boolean
  result?: unknown
  error?: { status: number; code: string; message: string; retryAfter?: number }
}

/** Sends bytes to a door; gives the outcome, after making sure that nothing reached the service. */
export async function turnedAway(
  bytes: string | (string | Buffer)[],
  o: Parameters<typeof openDoor>[0] = {},
) {
  const { port, seen } = await openDoor(o)
  const text = await raw(port, ...[bytes].flat())
  expect(seen).toEqual([])
  return { ...outcome(text), text }
}

/** A call that is refused with this status and code, of which nothing reaches the service. */
export async function expectRefused(
  world: World,
  [method, path, more]: [method: string, path: string, more?: Parameters<typeof call>[3]],
  [status, code]: [status: number, code: string],
): Promise<Reply['error']> {
  const { seen } = world
  const before = seen.length
  const called = await call(world, method, path, more)
  expect([called.status, called.json.error?.code, seen.length]).toEqual([status, code, before])
  return called.json.error
}

/** Writes bytes to a port and gives everything that came back until the connection was closed. */
export async function raw(port: number, ...pieces: (string | Buffer)[]): Promise<string> {
  const socket = await opened(port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  for (const piece of pieces) socket.write(piece)
  await closed(socket)
  return text
}

/** Waits until a socket is closed, also by an error. */
export async function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
}

/** A connected socket, destroyed when the test ends. */
export async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** A request's head with what every good one has; lines of `headers` come after. */
export function head(start: string, ...headers: string[]): string {
  const lines = [`${start} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${TOKEN}`]
  return [...lines, ...headers, '', ''].join('\r\n')
}

/** Status line's number, and the code in the envelope. */
export function outcome(text: string): { status: number; code: string | undefined } {
  const [top = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(top.split(' ')[1])
  return { status, code: body === '' ? undefined : (JSON.parse(body) as Reply).error?.code }
}
