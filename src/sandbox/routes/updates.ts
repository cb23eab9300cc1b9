import { UpdatesQuery, type Update } from '../../api/update.ts'
import { no } from '../failure.ts'
import { read, type Call, type Handler } from './call.ts'

/** GET /updates: confirms by `offset`, ends the poll before it, and waits on the sandbox's clock. */
export const getUpdates: Handler = async (call) => {
  const { bot } = call
  const { offset, limit, timeout } = read(UpdatesQuery, numbersIn(call.query))
  if (bot.webhook !== null) throw no('webhook_active', 'a webhook is set')
  bot.mailbox.endPoll?.()
  if (offset !== undefined && call.world.faults.takeRule('keep-confirmed', bot.id) === null) {
    bot.mailbox.confirm(offset)
  }
  if (timeout > 0 && bot.mailbox.size === 0) {
    const ended = await waitForUpdate(call, timeout * 1000)
    if (ended) return { result: [] }
  }
  return { result: bot.mailbox.list(limit) satisfies Update[] }
}

/** Waits for an update or the end of time. Gives true when something else ended the poll. */
async function waitForUpdate({ world, bot, hungUp }: Call, timeoutMs: number): Promise<boolean> {
  const { mailbox } = bot
  const poll = new AbortController()
  let ended = false
  const end = (): void => {
    ended = true
    poll.abort()
  }
  const stopWaking = mailbox.onWake(() => mailbox.size > 0 && poll.abort())
  mailbox.endPoll = end
  hungUp.addEventListener('abort', end)
  world.closing.signal.addEventListener('abort', end)
  try {
    if (hungUp.aborted || world.closing.signal.aborted) end()
    await world.clock.wait(timeoutMs, poll.signal)
  } finally {
    stopWaking()
    hungUp.removeEventListener('abort', end)
    world.closing.signal.removeEventListener('abort', end)
    if (mailbox.endPoll === end) mailbox.endPoll = null
  }
  return ended
}

/**
 * The three numbers of the query; other names mean nothing here. They are decimal digits:
 * JavaScript would read more than those as numbers.
 */
function numbersIn(query: unknown): Record<string, unknown> {
  const known = Object.entries(query as Record<string, unknown>).filter(([name]) =>
    Object.hasOwn(UpdatesQuery.shape, name),
  )
  for (const [name, value] of known) {
    if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) {
      throw no('bad_request', `${name}: must be an integer`)
    }
  }
  return Object.fromEntries(known)
}
