import { z } from 'zod'
import { flag, text, textOrNull } from '../control/fields.ts'
import { CHAT_KINDS, ChatMode } from '../../api/chat.ts'
import { ACCOUNT_FIELDS, BotProfile, WEBHOOK_FIELDS, WebhookState } from '../control/results.ts'

/**
 * Results of the bot API by the specification; further fields are allowed. The schemas of
 * `src/api` demand less, since they read any answer of a service.
 */

export const named = <Fields extends z.ZodRawShape>(id: string, fields: Fields) =>
  z.looseObject(fields).meta({ id })

const described = <Fields extends z.ZodRawShape>(id: string, description: string, fields: Fields) =>
  z.looseObject(fields).meta({ id, description })

const id = z.int()
const ts = z.int().describe('ms since 1970')
const kind = z.enum(CHAT_KINDS)
const OPEN = 'The specification leaves the names open; these are the sandbox’s.'

export const Bot = named('Bot', {
  ...BotProfile.shape,
  status: text.describe('`active`, `paused`'),
  webhook: z.looseObject(WEBHOOK_FIELDS),
})

export const WebhookInfo = described(
  'WebhookInfo',
  'The name of `nextAttemptAt` is the sandbox’s.',
  {
    ...WebhookState.shape,
    nextAttemptAt: ts.nullish().describe('of the next delivery, ms since 1970'),
  },
)

export const Sender = named('Sender', ACCOUNT_FIELDS)

export const MediaItem = named('MediaItem', {
  id: text,
  url: text.describe('of the form `/media/<id>`, on the API server'),
  durationMs: z.int().optional().describe('of timed media'),
})

const content = {
  chat: z.looseObject({ id, kind }),
  from: Sender,
  date: ts,
  kind: text.describe('`user` for ordinary messages; service notices have another'),
  text: text.optional().describe('in readable chats'),
  armored: text.optional().describe('in encrypted chats: an armored OpenPGP message'),
  media: z.array(MediaItem).describe('empty when there are none'),
}

export const QuotedMessage = described(
  'QuotedMessage',
  `Its id, and what the bot may see of it. ${OPEN}`,
  { id, ...z.object(content).partial().shape, replyTo: z.null().optional() },
)

export const Message = named('Message', { id, ...content, replyTo: QuotedMessage.nullable() })

export const CallbackQuery = described('CallbackQuery', OPEN, {
  id: text.describe('the `callbackId` of the answer'),
  from: Sender,
  message: Message,
  data: text.describe('the `callbackData` of the button'),
})

export const Update = named('Update', {
  updateId: z.int().describe('grows; the identity of a delivery'),
  kind: text.describe('`message`, `callback_query`'),
  message: Message.optional().describe('when `kind` is `message`'),
  callbackQuery: CallbackQuery.optional().describe('when `kind` is `callback_query`'),
})

export const SentMessage = named('SentMessage', { id, date: ts })

export const Chat = described('Chat', 'The names of the last three are the sandbox’s.', {
  id,
  kind,
  title: text.nullish().describe('of groups and channels'),
  username: text.nullish().describe('public handle of the chat'),
  mode: ChatMode.describe('`open`: send `text`; `protected`: send `armored`'),
  description: text.nullish(),
  memberCount: id,
  historyVisible: flag,
  slowModeSeconds: z.int().describe('0 when slow mode is off'),
  me: z
    .looseObject({
      status: text,
      rights: z.int().describe('bits, whose meaning the specification leaves open'),
      restrictedUntil: ts.nullable(),
    })
    .describe('the bot’s own membership'),
  user: Sender.optional().describe('the other person of a private chat'),
  blocked: flag.optional().describe('whether that person blocked the bot'),
  gone: flag.optional().describe('whether that person closed the account'),
})

export const UserKey = described('UserKey', OPEN, {
  userId: id,
  fingerprint: text.describe('as the server lists it'),
  publicKey: text.describe('armored OpenPGP certificate'),
})

export const ChatKeys = z.looseObject({
  keys: z.array(UserKey),
  memberCount: z.int().optional().describe('of groups: all members, with a key or without'),
})

export const Member = described('Member', OPEN, {
  ...Sender.shape,
  status: text,
  rights: id,
  title: textOrNull,
})

export const Members = z.looseObject({
  members: z.array(Member),
  memberCount: z.int().describe('counts the list as returned'),
})

export const BotCommand = named('Command', {
  command: text.describe('1 to 32 of a-z, 0-9 and _; a leading / is dropped'),
  description: text.describe('1 to 256 characters'),
})

export const CommandScope = named('CommandScope', { scope: text, commands: z.array(BotCommand) })

export const Resolved = named('Resolved', {
  id,
  kind: text.describe('which of person, group or channel holds the handle'),
  username: text.describe('the handle that it actually goes by'),
  user: Sender.optional().describe('a little extra detail'),
  chat: z
    .looseObject({ id, kind, username: text, title: textOrNull, memberCount: id })
    .optional()
    .describe('a little extra detail'),
})
