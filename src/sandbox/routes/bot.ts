/** The bot itself: its profile, key and token, its updates and webhook, its commands. */
import { z } from 'zod'
import { putCommandsOf, Scope, type CommandScope } from '../../api/command.ts'
import { putKeyOf } from '../../api/user-key.ts'
import { SetWebhook, updatesQueryOf, type Update } from '../../api/updates.ts'
import { apiError } from '../api-error.ts'
import { revokeToken as revoke } from '../rules/bots.ts'
import { scopeChatId, setCommands } from '../rules/commands.ts'
import { findChat } from '../rules/find.ts'
import { publishBotKey } from '../rules/keys.ts'
import { botView, webhookView } from '../views/bot.ts'
import { removeWebhook, setWebhook as startWebhook } from '../webhook/delivery-loop.ts'
import { requireWebhookUrl } from '../webhook/url.ts'
import { parseInput, type BotCall, type RouteHandler } from './call.ts'

/** GET /me */
export const getMe: RouteHandler = ({ world, bot }) => ({ result: botView(world, bot) })

/** PUT /key: the fingerprint is not compared with the key (spec). */
export const putKey: RouteHandler = ({ world, bot, body }) => {
  const { publicKey, fingerprint } = parseInput(putKeyOf(world.limits.values), body)
  publishBotKey(world, bot, { publicKey, fingerprint })
  return { result: { fingerprint, mode: 'protected' } }
}

/** POST /token/revoke: revokes the token in use and notifies the owner. */
export const revokeToken: RouteHandler = ({ world, bot }) => {
  revoke(world, bot)
  return { result: { revoked: true } }
}

/** GET /webhook */
export const getWebhook: RouteHandler = ({ bot }) => ({ result: webhookView(bot) })

/** POST /webhook: ends a poll in progress. */
export const setWebhook: RouteHandler = async ({ world, bot, body }) => {
  const { url, secret } = parseInput(SetWebhook, body)
  await requireWebhookUrl(world, url)
  startWebhook(world, bot, { url, secret: secret ?? null })
  return { result: { url, hasSecret: secret !== undefined, pending: bot.queue.size } }
}

/** DELETE /webhook: queued updates remain for polling. */
export const deleteWebhook: RouteHandler = ({ bot }) => {
  removeWebhook(bot)
  return { result: { url: null, pending: bot.queue.size } }
}

/** Other names are ignored. */
const ScopeQuery = z.object({ scope: Scope.optional() })

/** GET /commands: every scope with its list, or the list of one scope. */
export const getCommands: RouteHandler = ({ bot, query }) => {
  const { scope } = parseInput(ScopeQuery, query)
  if (scope !== undefined) return { result: bot.commands.get(scope) ?? [] }
  const all = Array.from(bot.commands, ([name, commands]) => ({ scope: name, commands }))
  return { result: all satisfies CommandScope[] }
}

/** PUT /commands: replaces the list of one scope; of commands with the same name the first counts. */
export const putCommands: RouteHandler = ({ world, bot, body }) => {
  const { scope, commands } = parseInput(putCommandsOf(world.limits.values), body)
  const chatId = scopeChatId(scope)
  if (chatId !== null) findChat(world, bot, chatId)
  return { result: { scope, commands: setCommands(bot, scope, commands) } satisfies CommandScope }
}

/** DELETE /commands */
export const deleteCommands: RouteHandler = ({ bot, query }) => {
  const { scope = 'default' } = parseInput(ScopeQuery, query)
  setCommands(bot, scope, [])
  return { result: { scope, commands: [] } satisfies CommandScope }
}

/** GET /updates: ends an earlier poll, confirms by `offset`, and waits on the sandbox's clock. */
export const getUpdates: RouteHandler = async (call) => {
  const { world, bot } = call
  const query = numbersIn(call.query)
  const { offset, limit, timeout } = parseInput(updatesQueryOf(world.limits.values), query)
  if (bot.webhook !== null) throw apiError('webhook_active', 'a webhook is set')
  bot.queue.endPoll?.()
  if (offset !== undefined && world.faults.takeRule('keep-confirmed', bot.id) === null) {
    bot.queue.confirm(offset)
  }
  if (timeout > 0 && bot.queue.size === 0) {
    const ended = await waitForUpdate(call, timeout * 1000)
    if (ended) return { result: [] }
  }
  return { result: bot.queue.list(limit) satisfies Update[] }
}

/** Waits for an update or the timeout. Gives true when something else ended the poll. */
async function waitForUpdate({ world, bot, hangUp }: BotCall, timeoutMs: number): Promise<boolean> {
  const { queue } = bot
  const [poll, update] = [new AbortController(), new AbortController()]
  const end = (): void => poll.abort()
  const ended = AbortSignal.any([poll.signal, hangUp, world.closing.signal])
  const stopWaking = queue.onWake(() => queue.size > 0 && update.abort())
  queue.endPoll = end
  try {
    await world.clock.wait(timeoutMs, AbortSignal.any([ended, update.signal]))
  } finally {
    stopWaking()
    if (queue.endPoll === end) queue.endPoll = null
  }
  return ended.aborted
}

/**
 * The three numbers of the query; other names are ignored. Only decimal digits are accepted, since
 * `Number()` reads more than those.
 */
function numbersIn(query: unknown): Record<string, unknown> {
  const known = Object.entries(query as Record<string, unknown>).filter(([name]) =>
    ['offset', 'limit', 'timeout'].includes(name),
  )
  for (const [name, value] of known) {
    if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) {
      throw apiError('bad_request', `${name}: must be an integer`)
    }
  }
  return Object.fromEntries(known)
}
