import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { API_PREFIX, ENDPOINTS, type Endpoint } from '../../api/endpoints.ts'
import { bearerOf, botIdOf } from '../../api/token.ts'
import { valuesOf } from '../../door.ts'
import { no } from '../failure.ts'
import { countAddress, countCall } from '../rules/rates.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

/** By method and path pattern, as the router names them. */
const BY_PATTERN = new Map<string, Endpoint>(
  ENDPOINTS.map((endpoint) => [`${endpoint.method} ${API_PREFIX}${endpoint.path}`, endpoint]),
)

/** The endpoint that a request was routed to, or undefined. */
export function endpointOf(request: FastifyRequest): Endpoint | undefined {
  return BY_PATTERN.get(`${request.method} ${request.routeOptions.url ?? ''}`)
}

/**
 * Lets a call in: the address's window, the token, the bot's window, the pause; in this order.
 * @throws ServiceNo `rate_limited`, `unauthorized` or `bot_paused`
 */
export function admit(world: World, request: FastifyRequest): BotState {
  countAddress(world, request.ip)
  const bot = authenticate(world, request)
  countCall(world, bot)
  const endpoint = endpointOf(request)
  const exempt = endpoint !== undefined && 'whilePaused' in endpoint
  if (bot.status === 'paused' && !exempt) throw no('bot_paused', 'the owner paused this bot')
  return bot
}

function authenticate(world: World, request: FastifyRequest): BotState {
  const [line, ...more] = valuesOf(request.raw.rawHeaders, 'authorization')
  const token = more.length === 0 ? bearerOf(line) : null
  const botId = token === null ? null : botIdOf(token)
  const bot = botId === null ? undefined : world.bots.get(botId)
  if (token === null || typeof bot?.token !== 'string' || !sameText(token, bot.token)) {
    throw no('unauthorized', 'the token is missing, revoked, replaced or invalid')
  }
  return bot
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
