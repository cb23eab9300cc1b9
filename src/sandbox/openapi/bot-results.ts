import { z } from 'zod'
import { CHAT_KINDS, ChatMode } from '../../api/chat.ts'
import { ACCOUNT_FIELDS, BotProfile, WEBHOOK_FIELDS, WebhookState } from '../control/results.ts'

/**
 * Results of the bot API by the specification; further fields are allowed. The schemas of
 * `src/api` demand less, since they read any answer of a service.
 */

const id = z.int()
const ts = z.int().describe('ms since 1970')
const kind = z.enum(CHAT_KINDS)
const OPEN = 'The specification leaves the names open; these are the sandbox’s.'

export const Bot = z
  .looseObject({
    ...BotProfile.shape,
    status: z.string().describe('`active`, `paused`'),
    webhook: z.looseObject(WEBHOOK_FIELDS),
  })
  .meta({ id: 'Bot' })

export const WebhookInfo = z
  .looseObject({
    ...WebhookState.shape,
    nextAttemptAt: ts.nullish().describe('of the next delivery, ms since 1970'),
  })
  .meta({ id: 'WebhookInfo', description: `The name of \`nextAttemptAt\` is the sandbox’s.` })

export const Sender = z.looseObject(ACCOUNT_FIELDS).meta({ id: 'Sender' })

export const MediaItem = z
  .looseObject({
    id: z.string(),
    url: z.string().describe('of the form `/media/<id>`, on the API server'),
    durationMs: z.int().optional().describe('of timed media'),
  })
  .meta({ id: 'MediaItem' })

const content = {
  chat: z.looseObject({ id, kind }),
  from: Sender,
  date: ts,
  kind: z.string().describe('`user` for ordinary messages; service notices have another'),
  text: z.string().optional().describe('in readable chats'),
  armored: z.string().optional().describe('in encrypted chats: an armored OpenPGP message'),
  media: z.array(MediaItem).describe('empty when there are none'),
}

export const QuotedMessage = z
  .looseObject({ id, ...z.object(content).partial().shape, replyTo: z.null().optional() })
  .meta({ id: 'QuotedMessage', description: `Its id, and what the bot may see of it. ${OPEN}` })

export const Message = z
  .looseObject({ id, ...content, replyTo: QuotedMessage.nullable() })
  .meta({ id: 'Message' })

export const CallbackQuery = z
  .looseObject({
    id: z.string().describe('the `callbackId` of the answer'),
    from: Sender,
    message: Message,
    data: z.string().describe('the `callbackData` of the button'),
  })
  .meta({ id: 'CallbackQuery', description: OPEN })

export const Update = z
  .looseObject({
    updateId: z.int().describe('grows; the identity of a delivery'),
    kind: z.string().describe('`message`, `callback_query`'),
    message: Message.optional().describe('when `kind` is `message`'),
    callbackQuery: CallbackQuery.optional().describe('when `kind` is `callback_query`'),
  })
  .meta({ id: 'Update' })

export const SentMessage = z.looseObject({ id, date: ts }).meta({ id: 'SentMessage' })

export const Chat = z
  .looseObject({
    id,
    kind,
    title: z.string().nullish().describe('of groups and channels'),
    username: z.string().nullish().describe('public handle of the chat'),
    mode: ChatMode.describe('`open`: send `text`; `protected`: send `armored`'),
    description: z.string().nullish(),
    memberCount: z.int(),
    historyVisible: z.boolean(),
    slowModeSeconds: z.int().describe('0 when slow mode is off'),
    me: z
      .looseObject({
        status: z.string(),
        rights: z.int().describe('bits, whose meaning the specification leaves open'),
        restrictedUntil: ts.nullable(),
      })
      .describe('the bot’s own membership'),
    user: Sender.optional().describe('the other person of a private chat'),
    blocked: z.boolean().optional().describe('whether that person blocked the bot'),
    gone: z.boolean().optional().describe('whether that person closed the account'),
  })
  .meta({ id: 'Chat', description: 'The names of the last three are the sandbox’s.' })

export const UserKey = z
  .looseObject({
    userId: id,
    fingerprint: z.string().describe('as the server lists it'),
    publicKey: z.string().describe('armored OpenPGP certificate'),
  })
  .meta({ id: 'UserKey', description: OPEN })

export const ChatKeys = z.looseObject({
  keys: z.array(UserKey),
  memberCount: z.int().optional().describe('of groups: all members, with a key or without'),
})

export const Member = Sender.extend({
  status: z.string(),
  rights: z.int(),
  title: z.string().nullable(),
}).meta({ id: 'Member', description: OPEN })

export const Members = z.looseObject({
  members: z.array(Member),
  memberCount: z.int().describe('counts the list as returned'),
})

export const BotCommand = z
  .looseObject({
    command: z.string().describe('1 to 32 of a-z, 0-9 and _; a leading / is dropped'),
    description: z.string().describe('1 to 256 characters'),
  })
  .meta({ id: 'Command' })

export const CommandScope = z
  .looseObject({ scope: z.string(), commands: z.array(BotCommand) })
  .meta({ id: 'CommandScope' })

export const Resolved = z
  .looseObject({
    id,
    kind: z.string().describe('which of person, group or channel holds the handle'),
    username: z.string().describe('the handle that it actually goes by'),
    user: Sender.optional().describe('a little extra detail'),
    chat: z
      .looseObject({
        id,
        kind,
        username: z.string(),
        title: z.string().nullable(),
        memberCount: z.int(),
      })
      .optional()
      .describe('a little extra detail'),
  })
  .meta({ id: 'Resolved' })
