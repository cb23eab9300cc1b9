import { FIXED_LIMITS, LIMITS } from '../../api/limits.ts'
import { BotProfile } from '../control/results.ts'
import type { BotState } from '../state.ts'
import type { World } from '../world.ts'

const { markupBytes, commandsPerScope } = FIXED_LIMITS

/** Result of `GET /me`: of the limits those that the specification names, and those that were given. */
export const botView = ({ limits }: World, bot: BotState) =>
  BotProfile.parse({
    ...bot,
    mode: bot.key === null ? 'open' : 'protected',
    fingerprint: bot.key?.fingerprint ?? null,
    webhook: targetView(bot),
    queued: bot.queue.size,
    limits: { ...LIMITS, markupBytes, commandsPerScope, ...Object.fromEntries(limits.given) },
  })

/** Result of `GET /webhook`. */
export const webhookView = (bot: BotState) => ({
  ...targetView(bot),
  pending: bot.queue.size,
  nextAttemptAt: bot.queue.size === 0 ? null : (bot.webhook?.nextAttemptAt ?? null),
})

const targetView = ({ webhook }: BotState) => ({
  url: webhook?.url ?? null,
  hasSecret: typeof webhook?.secret === 'string',
  failures: webhook?.failures ?? 0,
  lastError: webhook?.lastError ?? null,
})
