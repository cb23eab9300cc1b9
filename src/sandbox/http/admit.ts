import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { API_PREFIX, ENDPOINTS, type Endpoint } from '../../api/endpoints.ts'
import { bearerOf, botIdOf } from '../../api/token.ts'
import { valuesOf } from '../../door.ts'
import { no } from '../failure.ts'
import { countCall, demandAddress, demandCall } from '../rules/rates.ts'
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
 * What a window refuses counts in none (spec, Errors 2).
 * @throws ServiceNo `rate_limited`, `unauthorized` or `bot_paused`
 */
export function admit(world: World, request: FastifyRequest): BotState {
  demandAddress(world, request.ip)
  const bot = authenticate(world, request)
  if (bot !== null) demandCall(world, bot)
  countCall(world, { address: request.ip, bot })
  if (bot === null) {
    throw no('unauthorized', 'the token is missing, revoked, replaced or invalid')
  }
  const endpoint = endpointOf(request)
  const exempt = endpoint !== undefined && 'whilePaused' in endpoint
  if (bot.status === 'paused' && !exempt) throw no('bot_paused', 'the owner paused this bot')
  return bot
}

/** The bot whose token it is, or null. */
function authenticate(world: World, request: FastifyRequest): BotState | null {
  const [line, ...more] = valuesOf(request.raw.rawHeaders, 'authorization')
  const token = more.length === 0 ? bearerOf(line) : null
  const botId = token === null ? null : botIdOf(token)
  const bot = botId === null ? undefined : world.bots.get(botId)
  const isRight = token !== null && typeof bot?.token === 'string' && sameText(token, bot.token)
  return isRight ? bot : null
}

function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
