import { z } from 'zod'
import { CHAT_KINDS, ChatMode, SEAT_STATUS } from '../../api/chat.ts'
import { Markup } from '../../api/buttons.ts'

/** Results of operations. A client must accept further fields. */

const id = z.int()
const ms = z.int().describe('ms since 1970')

export const Account = z.object({ id, username: z.string() }).meta({ id: 'Account' })

export const ChatSummary = z
  .object({ id, kind: z.enum(CHAT_KINDS), mode: ChatMode })
  .meta({ id: 'ChatSummary' })

/** A person or a bot, as messages and member lists show them. */
export const ACCOUNT_FIELDS = {
  id: id.describe('id of the person or bot'),
  username: z.string(),
  firstName: z.string(),
  lastName: z.string().nullable(),
  isBot: z.boolean(),
}

export const ChatMember = z
  .object({
    ...ACCOUNT_FIELDS,
    status: z.enum(SEAT_STATUS),
    rights: z.int().describe('sum of 1 delete, 2 restrict, 4 add, 8 info, 16 post'),
    title: z.string().nullable().describe('shown beside the name'),
  })
  .meta({ id: 'ChatMember' })

export const ShownCommand = z
  .object({ command: z.string().describe('without its slash'), description: z.string() })
  .meta({ id: 'ShownCommand' })

export const PublishedCertificate = z
  .object({
    fingerprint: z.string().describe('as it was published; nobody checks it'),
    publicKey: z.string().describe('armored OpenPGP certificate'),
  })
  .meta({ id: 'PublishedCertificate' })

export const SafetyNumber = z
  .object({
    digits: z.string().describe('twelve groups of five, without blanks'),
    text: z.string().describe('of the QR code'),
  })
  .meta({ id: 'SafetyNumber' })

export const WEBHOOK_FIELDS = {
  url: z.string().nullable().describe('null when none is set'),
  hasSecret: z.boolean(),
  failures: z.int().describe('failed deliveries in a row'),
  lastError: z.string().nullable(),
}

export const BotProfile = z
  .object({
    id,
    username: z.string().describe('public handle'),
    name: z.string().describe('display name'),
    about: z.string().nullable(),
    description: z.string().nullable(),
    mode: ChatMode.describe('`protected` once a key is published'),
    fingerprint: z.string().nullable().describe('of the published key; null when open'),
    privacyMode: z.boolean().describe('in groups, only what is addressed to the bot'),
    allowGroups: z.boolean().describe('whether the bot may be added to groups'),
    status: z.enum(['active', 'paused']),
    webhook: z.object(WEBHOOK_FIELDS),
    queued: z.int().describe('updates that wait'),
    limits: z.record(z.string(), z.int()).describe('the limits that this server enforces'),
  })
  .meta({ id: 'BotProfile', description: 'The bot as `GET /me` shows it.' })

export const WebhookState = z
  .object({
    ...WEBHOOK_FIELDS,
    pending: z.int().describe('updates that wait'),
    nextAttemptAt: ms.nullable(),
  })
  .meta({ id: 'WebhookState', description: 'The webhook as `GET /webhook` shows it.' })

export const OwnerNotice = z
  .object({ at: ms, kind: z.enum(['token_revoked', 'webhook_failing']) })
  .meta({ id: 'OwnerNotice' })

/** What a bot answers to the press of a button. */
export const ANSWER_FIELDS = {
  text: z.string().nullable(),
  alert: z.boolean(),
  url: z.string().nullable(),
}

export const ChatMessage = z
  .object({
    id: id.describe('counts from 1 in each chat'),
    fromId: id,
    date: ms,
    kind: z.enum(['user', 'joined', 'left']),
    text: z.string().nullable(),
    armored: z.string().nullable(),
    replyTo: z.int().nullable().describe('id of the quoted message'),
    markup: Markup.nullable(),
    media: z.array(
      z.object({ id: z.string(), durationMs: z.int().nullable().describe('of timed media') }),
    ),
    editedAt: ms.nullable(),
  })
  .meta({ id: 'ChatMessage', description: 'A message as the service stores it.' })

export const RecordedCall = z
  .object({
    n: z.int().describe('grows by one'),
    at: ms,
    by: z
      .enum(['api', 'phone', 'webhook'])
      .describe('a bot’s call, a phone’s message, or a delivery to a webhook'),
    method: z.string(),
    path: z.string().describe('with the query'),
    headers: z.array(z.string()).readonly().describe('names and values in turn'),
    body: z.string(),
    status: z.int().describe('0 while unanswered, or when the connection was closed instead'),
    answer: z.string().describe('the response body, which a fault may have kept back'),
  })
  .meta({ id: 'RecordedCall' })

/** The time of the sandbox's clock, and whether it runs. */
export const Now = z.object({
  now: ms,
  mode: z.enum(['running', 'still']).describe('`still`: only `advance` moves it'),
})

export const FailedStep = z
  .object({
    atMs: z.int().describe('ms since 1970'),
    action: z.string().describe('the operation that the step named'),
    reason: z.string(),
  })
  .meta({ id: 'FailedStep' })

/** `n` grows by one. */
export const NumberedFailedStep = FailedStep.extend({ n: z.int() }).meta({
  id: 'NumberedFailedStep',
})

export const NumberedNotice = OwnerNotice.extend({ n: z.int().describe('grows by one') }).meta({
  id: 'NumberedNotice',
})

export const PersonEntry = Account.extend({
  firstName: z.string(),
  lastName: z.string().nullable(),
  fingerprint: z.string().nullable().describe('of the published key'),
  hasPhone: z.boolean().describe('a phone of this sandbox holds the key'),
  gone: z.boolean().describe('closed the account'),
}).meta({ id: 'PersonEntry' })

export const BotSummary = Account.extend({
  name: z.string(),
  status: z.enum(['active', 'paused']),
  mode: ChatMode,
  privacyMode: z.boolean(),
  allowGroups: z.boolean(),
  webhook: z.string().nullable().describe('url of the webhook'),
  queued: z.int().describe('updates that wait'),
}).meta({ id: 'BotSummary' })

export const ChatEntry = ChatSummary.extend({
  name: z.string().nullable().describe('what the seed calls it'),
  title: z.string().nullable(),
  username: z.string().nullable(),
  members: z.array(id),
  trueMode: ChatMode.describe('by which phones go; another than `mode` where the service lies'),
}).meta({ id: 'ChatEntry' })
