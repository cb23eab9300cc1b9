import { UpdatesQuery, type Update } from '../../api/updates.ts'
import { apiError } from '../api-error.ts'
import { parseInput, type BotCall, type RouteHandler } from './call.ts'

/** GET /updates: ends an earlier poll, confirms by `offset`, and waits on the sandbox's clock. */
export const getUpdates: RouteHandler = async (call) => {
  const { bot } = call
  const { offset, limit, timeout } = parseInput(UpdatesQuery, numbersIn(call.query))
  if (bot.webhook !== null) throw apiError('webhook_active', 'a webhook is set')
  bot.queue.endPoll?.()
  if (offset !== undefined && call.world.faults.takeRule('keep-confirmed', bot.id) === null) {
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
    Object.hasOwn(UpdatesQuery.shape, name),
  )
  for (const [name, value] of known) {
    if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) {
      throw apiError('bad_request', `${name}: must be an integer`)
    }
  }
  return Object.fromEntries(known)
}
