import { z } from 'zod'
import { int } from './common.ts'
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
  username: z.string().optional(),
  name: z.string().optional(),
  about: z.string().nullish(),
  description: z.string().nullish(),
  mode: ChatMode,
  fingerprint: z.string().nullish(),
  privacyMode: z.boolean().optional(),
  allowGroups: z.boolean().optional(),
  status: z.string().optional(),
  webhook: BotWebhook.optional().catch(undefined),
  queued: int.optional(),
  limits: z.unknown().optional(),
})
export type Bot = z.infer<typeof Bot>
