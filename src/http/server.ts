import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_PREFIX } from '../api/endpoints.ts'
import { Refusal } from '../errors.ts'
import type { ClientAct, StillMay } from '../clients/may-client.ts'
import type { Client } from '../clients/records.ts'
import { createApp, createAppBehind, type App, type DoorParts } from './app.ts'
import { requireBearer } from './auth.ts'
import { actOf, callOf, credentialOf, UNNAMED, type DoorClients } from './client-calls.ts'
import { requireKnownNames } from './request-names.ts'
import { listenAt, type ListenAt } from './listen.ts'
import { passRoutes, type PassParts } from './routes/pass.ts'

/** A local listener that is not open yet. */
export interface Door {
  /** Opens it. @returns where it really listens @throws OperatorError `listen` */
  listen(at: ListenAt): Promise<string>
  /**
   * Closes the door: no further requests are accepted, polls are answered with an empty list, other
   * calls under way end. Done within 10 s in any case.
   */
  drain: () => Promise<void>
}

/** The parts of the door that a route needs. */
export interface DoorTools {
  /** Lets a request through that an `anonymous` route wants the token of. @throws Refusal */
  authorize(request: FastifyRequest, reply: FastifyReply): void
  /** Lets the call of a client through, and every one of the bot's, for `relay`. @throws Refusal */
  admit(request: FastifyRequest, act: ClientAct): Promise<StillMay>
  /** Counts a call to the service of a client. @throws Refusal `rate_limited` */
  takeCall(client: string, act: ClientAct): void
  /** Aborts when the door closes: a poll then answers with its updates so far, or an empty list. */
  stopping: AbortSignal
}

/** Registers one resource's routes, with paths below the API's prefix. */
export type DoorRoute = (app: FastifyInstance, tools: DoorTools) => void

/** The parts of the bot's door. */
export interface BotDoorParts extends PassParts, DoorParts {
  /** The token that the bot must present, asked for on each request. */
  expectedToken: () => string
  /** Reads the token from its source again, now and then; true when it was read. */
  rereadToken: () => boolean
  clients: DoorClients
  /** The routes that are translated. */
  routes: readonly DoorRoute[]
  /** The routes beside the API's prefix. */
  outside: readonly DoorRoute[]
}

/** The callbacks of the door. */
export type BotDoorEvents = Pick<BotDoorParts, 'onAnswered' | 'onTokenRevoked'>

/** Builds the bot's door: `/bot/v1/*` and `/media/{id}`. */
export function buildBotDoor(parts: BotDoorParts): Door {
  const { app, drain } = buildRoutes(parts, createApp)
  return { listen: (at) => listenAt(app, at), drain }
}

/**
 * The same routes for one of several bots, behind a door that they share, which has accepted the request;
 * they authorize the caller.
 */
export type BotRoutes = Pick<App, 'answer' | 'drain'>

/** They are made when the first request arrives: they would be most of the memory of a bot at rest. */
export function buildBotRoutes(parts: BotDoorParts): BotRoutes {
  let made: Promise<App> | null = null
  const make = async (): Promise<App> => {
    const built = buildRoutes(parts, createAppBehind)
    await built.app.ready()
    return built
  }
  return {
    answer: (request, response) => {
      made ??= make()
      // oxlint-disable-next-line typescript/no-floating-promises -- routes that cannot be made are a defect
      void made.then(({ answer }) => !response.destroyed && answer(request, response))
    },
    drain: async () => await (await made)?.drain(),
  }
}

const ONLY_CLIENTS = 'the bot’s own token opens nothing here, since clients.only is set'

function buildRoutes(parts: BotDoorParts, create: typeof createApp): App {
  const { clients } = parts
  const authorize = (request: IncomingMessage): Client | null => {
    const { rawHeaders } = request
    const client = clients.of.find(credentialOf(request))
    if (client !== null) return client
    try {
      requireBearer(rawHeaders, parts.expectedToken())
    } catch (error) {
      // The owner may have issued a new one, which the bot has and we have not read yet.
      if (!parts.rereadToken()) throw error
      requireBearer(rawHeaders, parts.expectedToken())
    }
    if (clients.only) throw new Refusal('postern_not_allowed', ONLY_CLIENTS)
    return null
  }
  const admit = async (request: FastifyRequest, act: ClientAct): Promise<StillMay> => {
    const { client } = request
    request.stillMay = await clients.of.admit(client, act)
    if (client !== null && act.call !== 'getMedia') clients.shares.takeCalls(client.name, act)
    return request.stillMay
  }
  const begin = ({ client }: FastifyRequest, { raw }: FastifyReply): void => {
    if (client !== null) raw.once('close', clients.shares.begin(client.name))
  }
  const built = create({ ...parts, level: 'info', authorize })
  const { app, stopping } = built
  const tools: DoorTools = {
    authorize: (request, reply) => {
      request.client = authorize(request.raw)
      begin(request, reply)
    },
    admit,
    takeCall: (client, act) => clients.shares.takeCalls(client, act),
    stopping,
  }
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    done()
  })
  void app.register(
    (scope, _options, done) => {
      const admitClient = async (request: FastifyRequest): Promise<StillMay> =>
        await admit(request, await actOf(request, clients.presses))
      scope.addHook('preHandler', (request, _reply, next) => {
        requireKnownNames(request, callOf(request))
        const judge = (stillMay: StillMay): void => {
          request.stillMay = stillMay
          parts.outbox.refuseCodes(request.body)
        }
        const isOwn = request.client === null
        const stillMay = isOwn ? clients.of.admit(null, UNNAMED) : admitClient(request)
        if (stillMay instanceof Promise) return stillMay.then(judge)
        judge(stillMay)
        next()
        return null
      })
      for (const route of parts.routes) route(scope, tools)
      passRoutes(scope, parts)
      done()
    },
    { prefix: API_PREFIX },
  )
  for (const route of parts.outside) route(app, tools)
  return built
}
