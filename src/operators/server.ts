/** The server of the control socket. Every process that may open the socket may do everything. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as elapsed } from 'node:timers/promises'
import Fastify, { type FastifyReply } from 'fastify'
import { onlyBot } from '../config/bot-names.ts'
import { VERSION } from '../config/version.ts'
import { resultOr, usageError, type OperatorError } from '../errors.ts'
import type { Log } from '../logger.ts'
import type { AnyOperation } from '../util/operation.ts'
import { NO_SCHEMAS } from '../util/local-door.ts'
import { BOTS, type BotOperations } from './bots.ts'
import { OPERATIONS, type Operations } from './operations.ts'
import { BOT_HEADER, MAX_REQUEST_BYTES, toWireError, VERSION_HEADER } from './protocol.ts'
import { listenAtSocket } from './socket/listen.ts'

const MAX_CONNECTIONS = 16
/** Requests under way on one connection; our own client sends one after the other. */
const MAX_PIPELINED = 4
const IDLE_MS = 60_000
const DRAIN_MS = 2000

/** The operations of a process that serves several bots. */
export interface SeveralOperations {
  all: BotOperations
  /** @throws OperatorError `usage` when no bot has that name, or none is named */
  of: (bot: string | null) => Operations
}

/**
 * Opens the control socket in `dataDir`: mode 0600 from the moment it exists. One that a dead
 * process left is replaced.
 * @param o `dataDir` absolute and 0700; `operations` answer the requests;
 *   `runtimeDir` XDG_RUNTIME_DIR, where the socket goes when its path in `dataDir` is too long;
 *   `idleMs` how long a connection has for its next request, whole, and for taking an answer (one
 *   minute); `drainMs` how long disposing waits for operations under way (two seconds)
 * @returns disposing it removes the socket
 * @throws OperatorError `store-in-use` when another sidecar answers there; `listen` when no socket
 *   can be made
 */
export async function startControl(o: {
  dataDir: string
  operations: Operations | SeveralOperations
  log: Log
  runtimeDir?: string | null
  idleMs?: number
  drainMs?: number
  /** For tests: the version that answers carry. */
  version?: string
}): Promise<AsyncDisposable> {
  const app = createApp(o.operations, o.idleMs ?? IDLE_MS, o.version ?? VERSION)
  await app.ready()
  const { server } = app
  // A client may close its half after its last request, before the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = MAX_CONNECTIONS
  server.on('drop', () => o.log.warn({ limit: MAX_CONNECTIONS }, 'control connection dropped'))
  const { dataDir, runtimeDir = null } = o
  const place = await listenAtSocket(server, dataDir, runtimeDir)
  o.log.debug('control socket open')
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      place.clear()
      await Promise.race([closed, elapsed(o.drainMs ?? DRAIN_MS, undefined, { ref: false })])
      server.closeAllConnections()
      await closed
    },
  }
}

function createApp(operations: Operations | SeveralOperations, idleMs: number, version: string) {
  const app = Fastify({
    bodyLimit: MAX_REQUEST_BYTES,
    requestTimeout: idleMs,
    keepAliveTimeout: idleMs,
    http: { headersTimeout: idleMs, connectionsCheckingInterval: Math.min(idleMs, 10_000) },
    schemaController: NO_SCHEMAS,
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (_error, _request, reply) => fail(reply, unknownRequest()),
    // Bytes that are not HTTP get no response: their sender could not parse one.
    clientErrorHandler: (_error, socket) => socket.destroy(),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  const underWay = new WeakMap<Socket, { count: number }>()
  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const requests = underWay.get(socket) ?? { count: 0 }
    underWay.set(socket, requests)
    requests.count++
    reply.raw.once('close', () => requests.count--)
    if (requests.count <= MAX_PIPELINED) return
    socket.destroy()
    reply.hijack()
  })
  app.addHook('onSend', async ({ raw: { socket } }, { raw: response }) => {
    const tooSlow = setTimeout(() => socket.destroy(), idleMs)
    response.once('close', () => clearTimeout(tooSlow))
    response.setHeader(VERSION_HEADER, version)
    if (!app.server.listening) response.setHeader('connection', 'close')
  })
  app.post<{ Params: { name: string } }>('/:name', async ({ params, body, headers }) => {
    const bot = headers[BOT_HEADER]
    const request = { name: params.name, bot: typeof bot === 'string' ? bot : null, body }
    const { call, input } = readRequest(operations, request)
    return { result: (await call(input)) ?? null }
  })
  app.setNotFoundHandler(() => {
    throw unknownRequest()
  })
  app.setErrorHandler((error: unknown, _request, reply) => {
    const isMalformed = String((error as { code?: unknown }).code).startsWith('FST_ERR_')
    fail(reply, isMalformed ? unknownRequest() : error)
  })
  return app
}

type NamedCall = (input: object) => Promise<unknown>

/** @throws OperatorError `usage` when there is no such operation, or its input or bot is another */
function readRequest(
  operations: Operations | SeveralOperations,
  { name, bot, body }: { name: string; bot: string | null; body: unknown },
): { call: NamedCall; input: object } {
  const isOfAll = Object.hasOwn(BOTS, name)
  const table: Record<string, AnyOperation<never>> = isOfAll ? BOTS : OPERATIONS
  const schema = Object.hasOwn(table, name) ? table[name]?.input : undefined
  const input = resultOr(() => schema?.parse(JSON.parse(String(body))), undefined)
  if (input === undefined) throw unknownRequest()
  const isOfOne = !('of' in operations)
  if (isOfOne && (isOfAll || bot !== null)) throw onlyBot()
  const calls = isOfOne ? operations : isOfAll ? operations.all : operations.of(bot)
  return { call: (calls as unknown as Record<string, NamedCall>)[name]!, input: input as object }
}

const unknownRequest = (): OperatorError =>
  usageError(
    'the sidecar does not know this request',
    'the sidecar and this command must be of one version; `postern status` shows its version',
  )

function fail(reply: FastifyReply, error: unknown): void {
  const wireError = toWireError(error)
  void reply.code(wireError.code === 'usage' ? 400 : 500).send({ error: wireError })
}
