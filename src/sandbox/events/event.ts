import { z } from 'zod'
import { flag, text, textOrNull } from '../control/fields.ts'
import { ANSWER_FIELDS, RecordedCall } from '../control/results.ts'

const id = z.int()
const message = { chatId: id, messageId: id }
const every = {
  id: id.describe('grows by one'),
  at: z.int().describe('time of the sandbox’s clock, ms since 1970'),
}

function event<K extends string, F extends z.ZodRawShape>(kind: K, description: string, fields: F) {
  return z.object({ kind: z.literal(kind), ...every, ...fields }).describe(description)
}

/** What happened. Content is not among it: ask the control by these ids. */
export const SandboxEvent = z
  .discriminatedUnion('kind', [
    event('call', 'A call of a bot or a phone, or a delivery to a webhook.', {
      phase: z.enum(['received', 'answered']),
      ...RecordedCall.pick({ n: true, by: true, method: true, path: true, status: true }).shape,
    }),
    event('message', 'Somebody wrote, joined or left.', {
      ...message,
      fromId: id,
      notice: z.enum(['joined', 'left']).nullable().describe('null for an ordinary message'),
    }),
    event('edited', 'A message was edited.', { ...message, fromId: id }),
    event('deleted', 'A message was deleted.', message),
    event('typing', 'A bot’s indicator appears or disappears.', {
      chatId: id,
      botId: id,
      typing: flag,
    }),
    event('answer', 'A bot answered a press.', {
      callbackId: text,
      botId: id,
      userId: id,
      ...message,
      ...ANSWER_FIELDS,
    }),
    event('key', 'A person or bot has another key.', {
      userId: id,
      fingerprint: textOrNull.describe('null when the key was removed'),
    }),
    event('queued', 'An update waits for a bot.', { botId: id, updateId: id, updateKind: text }),
    event('delivered', 'A webhook took an update.', { botId: id, updateId: id }),
    event('failed', 'A delivery to a webhook failed.', {
      botId: id,
      updateId: id,
      error: text,
      nextAttemptAt: z.int().describe('ms since 1970'),
    }),
    event('notice', 'The app showed a notice to a bot’s owner.', {
      botId: id,
      notice: z.enum(['token_revoked', 'webhook_failing']),
    }),
    event('clock', 'The clock was moved; `at` is the time now.', {}),
    event('restored', 'The world was put back to a snapshot, or reset.', {}),
    event('fault', 'A fault struck.', {
      faultId: id,
      name: text,
      route: textOrNull.describe('null when it changed a rule of the service'),
      botId: id.nullable(),
    }),
    event('step', 'A step of the schedule was done.', {
      action: text,
      reason: textOrNull.describe('why it failed'),
    }),
  ])
  .meta({ id: 'SandboxEvent' })
export type SandboxEvent = z.infer<typeof SandboxEvent>

/** An event before it has its number and time. */
export type EventBody<E = SandboxEvent> = E extends unknown ? Omit<E, 'id' | 'at'> : never

export type EventKind = SandboxEvent['kind']

export const EVENT_KINDS: readonly EventKind[] = SandboxEvent.options.map(
  ({ shape }) => shape.kind.value,
)
