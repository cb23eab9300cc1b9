import { z } from 'zod'
import { CHAT_KINDS, ChatMode, SEAT_STATUS } from '../../api/chat.ts'
import { Markup } from '../../api/buttons.ts'
import { described, named } from '../openapi/schemas.ts'
import { flag, text, textOrNull } from './fields.ts'

/** Results of operations. A client must accept further fields. */

const id = z.int()
const ms = z.int().describe('ms since 1970')
const n = z.int().describe('grows by one')

export const Account = named('Account', { id, username: text })

export const ChatSummary = named('ChatSummary', { id, kind: z.enum(CHAT_KINDS), mode: ChatMode })

/** A person or a bot, as messages and member lists show them. */
export const ACCOUNT_FIELDS = {
  id: id.describe('id of the person or bot'),
  username: text,
  firstName: text,
  lastName: textOrNull,
  isBot: flag,
}

export const ChatMember = named('ChatMember', {
  ...ACCOUNT_FIELDS,
  status: z.enum(SEAT_STATUS),
  rights: z.int().describe('sum of 1 delete, 2 restrict, 4 add, 8 info, 16 post'),
  title: textOrNull.describe('shown beside the name'),
})

export const ShownCommand = named('ShownCommand', {
  command: text.describe('without its slash'),
  description: text,
})

export const PublishedCertificate = named('PublishedCertificate', {
  fingerprint: text.describe('as it was published; nobody checks it'),
  publicKey: text.describe('armored OpenPGP certificate'),
})

export const SafetyNumber = named('SafetyNumber', {
  digits: text.describe('twelve groups of five, without blanks'),
  text: text.describe('of the QR code'),
})

export const WEBHOOK_FIELDS = {
  url: textOrNull.describe('null when none is set'),
  hasSecret: flag,
  failures: z.int().describe('failed deliveries in a row'),
  lastError: textOrNull,
}

export const BotProfile = described('BotProfile', 'The bot as `GET /me` shows it.', {
  id,
  username: text.describe('public handle'),
  name: text.describe('display name'),
  about: textOrNull,
  description: textOrNull,
  mode: ChatMode.describe('`protected` once a key is published'),
  fingerprint: textOrNull.describe('of the published key; null when open'),
  privacyMode: flag.describe('in groups, only what is addressed to the bot'),
  allowGroups: flag.describe('whether the bot may be added to groups'),
  status: z.enum(['active', 'paused']),
  webhook: z.object(WEBHOOK_FIELDS),
  queued: z.int().describe('updates that wait'),
  limits: z.record(text, z.int()).describe('the limits that this server enforces'),
})

export const WebhookState = described('WebhookState', 'The webhook as `GET /webhook` shows it.', {
  ...WEBHOOK_FIELDS,
  pending: z.int().describe('updates that wait'),
  nextAttemptAt: ms.nullable(),
})

export const OwnerNotice = named('OwnerNotice', {
  at: ms,
  kind: z.enum(['token_revoked', 'webhook_failing']),
})

/** What a bot answers to the press of a button. */
export const ANSWER_FIELDS = { text: textOrNull, alert: flag, url: textOrNull }

export const ChatMessage = described('ChatMessage', 'A message as the service stores it.', {
  id: id.describe('counts from 1 in each chat'),
  fromId: id,
  date: ms,
  kind: z.enum(['user', 'joined', 'left']),
  text: textOrNull,
  armored: textOrNull,
  replyTo: z.int().nullable().describe('id of the quoted message'),
  markup: Markup.nullable(),
  media: z.array(z.object({ id: text, durationMs: z.int().nullable().describe('of timed media') })),
  editedAt: ms.nullable(),
})

export const RecordedCall = named('RecordedCall', {
  n,
  at: ms,
  by: z
    .enum(['api', 'phone', 'webhook'])
    .describe('a bot’s call, a phone’s message, or a delivery to a webhook'),
  method: text,
  path: text.describe('with the query'),
  headers: z.array(text).readonly().describe('names and values in turn'),
  body: text,
  status: z.int().describe('0 while unanswered, or when the connection was closed instead'),
  answer: text.describe('the response body, which a fault may have kept back'),
  answerHeaders: z.array(text).readonly().optional().describe('names and values in turn'),
  ms: z.number().optional().describe('real time until the answer, in ms'),
})

/** The time of the sandbox's clock, and whether it runs. */
export const Now = z.object({
  now: ms,
  mode: z.enum(['running', 'still']).describe('`still`: only `advance` moves it'),
})

export const FailedStep = named('FailedStep', {
  atMs: ms,
  action: text.describe('the operation that the step named'),
  reason: text,
})

/** `n` grows by one. */
export const NumberedFailedStep = named('NumberedFailedStep', { ...FailedStep.shape, n: z.int() })

export const NumberedNotice = named('NumberedNotice', { ...OwnerNotice.shape, n })

export const PersonEntry = named('PersonEntry', {
  ...Account.shape,
  firstName: text,
  lastName: textOrNull,
  fingerprint: textOrNull.describe('of the published key'),
  hasPhone: flag.describe('a phone of this sandbox holds the key'),
  gone: flag.describe('closed the account'),
})

export const BotSummary = named('BotSummary', {
  ...Account.shape,
  name: text,
  status: z.enum(['active', 'paused']),
  mode: ChatMode,
  privacyMode: flag,
  allowGroups: flag,
  webhook: textOrNull.describe('url of the webhook'),
  queued: z.int().describe('updates that wait'),
})

export const ChatEntry = named('ChatEntry', {
  ...ChatSummary.shape,
  name: textOrNull.describe('what the seed calls it'),
  title: textOrNull,
  username: textOrNull,
  members: z.array(id),
  trueMode: ChatMode.describe('by which phones go; another than `mode` where the service lies'),
})
