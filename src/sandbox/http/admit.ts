import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../../api/endpoints.ts'
import { bearerOf, botIdOf } from '../../api/bot.ts'
import { valuesOf } from '../../util/local-door.ts'
import { apiError } from '../api-error.ts'
import { countCall } from '../rules/rate-limits.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'
import { isSameText } from './control-token.ts'

/** The endpoint that a request was routed to, from the `config` of its route, or undefined. */
export function endpointOf({ routeOptions }: FastifyRequest): Endpoint | undefined {
  return (routeOptions.config as { endpoint?: Endpoint }).endpoint
}

/**
 * Checks, in this order: the address's rate window, the token, the bot's rate window, whether the
 * bot is paused.
 * @throws SandboxApiError `rate_limited`, `unauthorized` or `bot_paused`
 */
export function admitCall(world: World, request: FastifyRequest): BotState {
  const bot = authenticate(world, request)
  countCall(world, { address: request.ip, bot })
  if (bot === null) {
    throw apiError('unauthorized', 'the token is missing, revoked, replaced or invalid')
  }
  const endpoint = endpointOf(request)
  const exempt = endpoint !== undefined && 'whilePaused' in endpoint
  if (bot.status === 'paused' && !exempt) throw apiError('bot_paused', 'the owner paused this bot')
  return bot
}

/** The bot whose token it is, or null. */
function authenticate(world: World, request: FastifyRequest): BotState | null {
  const [line, ...more] = valuesOf(request.raw.rawHeaders, 'authorization')
  const token = more.length === 0 ? bearerOf(line) : null
  const botId = token === null ? null : botIdOf(token)
  const bot = botId === null ? undefined : world.bots.get(botId)
  const isRight = token !== null && typeof bot?.token === 'string' && isSameText(token, bot.token)
  return isRight ? bot : null
}
