import { z } from 'zod'
import { int, perhaps } from './common.ts'
import { ChatMode } from './chat.ts'

/** The bot's own webhook as `/me` shows it. */
export const BotWebhook = z.looseObject({
  url: z.string().nullable(),
  hasSecret: z.boolean(),
  failures: int,
  lastError: z.string().nullable(),
})

/**
 * Result of `GET /me`. `mode` is `protected` when a key is published, and `fingerprint` is that
 * key's; both are the service's claim. Only what the sidecar decides on is demanded.
 */
export const Bot = z.looseObject({
  id: int,
  username: perhaps(z.string()),
  name: perhaps(z.string()),
  about: perhaps(z.string()),
  description: perhaps(z.string()),
  mode: ChatMode,
  fingerprint: z.string().nullish(),
  privacyMode: perhaps(z.boolean()),
  allowGroups: perhaps(z.boolean()),
  status: perhaps(z.string()),
  webhook: perhaps(BotWebhook),
  queued: perhaps(int),
  limits: z.unknown().optional(),
})
export type Bot = z.infer<typeof Bot>
