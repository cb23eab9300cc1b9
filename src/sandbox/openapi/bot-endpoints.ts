import { z } from 'zod'
import { CallbackAnswer, Markup } from '../../api/buttons.ts'
import { PutCommands, Scope } from '../../api/command.ts'
import type { EndpointName } from '../../api/endpoints.ts'
import type { ErrorCode } from '../../api/error-codes.ts'
import { USERNAME } from '../../api/chat.ts'
import { DeleteBody, EditBody, SendBody, TypingBody } from '../../api/send.ts'
import { updatesQueryOf, SetWebhook } from '../../api/updates.ts'
import { putKeyOf } from '../../api/user-key.ts'
import * as results from './bot-results.ts'

/** An endpoint of the bot API, as the specification describes it. */
export interface DescribedEndpoint {
  summary: string
  query?: z.ZodObject
  body?: z.ZodType
  isBodyOptional?: true
  result: z.ZodType
  /** Of a success beside 200. */
  created?: true
  /** Beside those that every call, or every call with a query or body, can get. */
  errors?: readonly ErrorCode[]
}

/** The parameters of paths, by name. */
export const PATH_PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  chatId: z.int(),
  messageId: z.int(),
  userId: z.int(),
  callbackId: z.string(),
  username: z.string().regex(USERNAME).describe('without @'),
}

const CHAT = ['chat_not_found'] as const
const WRITING = [
  'wrong_body_kind',
  'bad_markup',
  'forbidden',
  'blocked_by_user',
  'user_gone',
  'chat_not_found',
  'flood_wait',
  'slow_mode',
] as const
const text = z.string().describe('readable chats: 1 to 4096 UTF-16 code units')
const armored = z.string().max(131_072).describe('encrypted chats: an armored OpenPGP message')

/** Every endpoint under the prefix. */
export const DESCRIBED: Record<EndpointName, DescribedEndpoint> = {
  getMe: { summary: 'The bot itself.', result: results.Bot },
  getUpdates: {
    summary:
      'Updates that wait, oldest first. `offset` confirms those below it; with `timeout` the call ' +
      'waits for one.',
    query: updatesQueryOf(),
    result: z.array(results.Update),
    errors: ['webhook_active'],
  },
  getWebhook: { summary: 'The webhook.', result: results.WebhookInfo },
  setWebhook: {
    summary: 'Sets the webhook. Updates are then POSTed there, one at a time.',
    body: SetWebhook.extend({
      url: z.string().max(1024).describe('absolute https, without credentials and fragment'),
    }),
    result: z.looseObject({ url: z.string(), hasSecret: z.boolean(), pending: z.int() }),
    errors: ['bad_webhook'],
  },
  deleteWebhook: {
    summary: 'Removes the webhook. Updates that wait stay for polling.',
    result: z.looseObject({ url: z.null(), pending: z.int() }),
  },
  putKey: {
    summary: 'Publishes the bot’s key, which makes the bot protected.',
    body: putKeyOf(),
    result: z.looseObject({ fingerprint: z.string(), mode: z.literal('protected') }),
  },
  getCommands: {
    summary: 'The commands of every scope, or of one.',
    query: z.object({ scope: Scope.optional() }),
    result: z.union([z.array(results.CommandScope), z.array(results.BotCommand)]),
  },
  putCommands: {
    summary: 'Replaces the commands of a scope.',
    body: PutCommands.extend({ commands: z.array(results.BotCommand).max(100) }),
    result: results.CommandScope,
    errors: ['chat_not_found'],
  },
  deleteCommands: {
    summary: 'Removes the commands of a scope.',
    query: z.object({ scope: Scope.default('default') }),
    result: results.CommandScope,
  },
  sendMessage: {
    summary:
      'Sends a message: `text` in a readable chat, `armored` in an encrypted one. A repeated ' +
      '`sendId` answers 200 with the message already written.',
    body: SendBody.extend({
      text: text.optional(),
      armored: armored.optional(),
      replyTo: z.int().nullish().describe('a message of the same chat; a wrong id is dropped'),
      markup: Markup.optional(),
      silent: z.boolean().optional().describe('channels only: no notification'),
      sendId: z.uuid().optional().describe('makes the call idempotent'),
    }),
    result: results.SentMessage,
    created: true,
    errors: [...WRITING, 'conflict'],
  },
  editMessage: {
    summary: 'Edits a message of the bot’s own. Without `markup` its buttons stay.',
    body: EditBody.extend({
      text: text.optional(),
      armored: armored.optional(),
      markup: Markup.nullish().describe('null removes the buttons'),
    }),
    result: results.SentMessage,
    errors: [...WRITING, 'message_not_found'],
  },
  deleteMessage: {
    summary: 'Deletes a message for everyone. The chat is named in the query or in the body.',
    query: DeleteBody.partial(),
    body: DeleteBody,
    isBodyOptional: true,
    result: z.looseObject({ deleted: z.boolean() }),
    errors: ['forbidden', 'chat_not_found', 'message_not_found'],
  },
  answerCallback: {
    summary: 'Answers the press of a button, within 60 seconds.',
    body: CallbackAnswer.extend({
      text: z.string().max(200).optional().describe('one line'),
      url: z.string().max(1024).optional().describe('absolute http or https'),
    }),
    isBodyOptional: true,
    result: z.looseObject({ answered: z.literal(true) }),
    errors: ['forbidden', 'callback_not_found', 'callback_answered', 'callback_expired'],
  },
  getChat: { summary: 'A chat.', result: results.Chat, errors: CHAT },
  getChatKeys: {
    summary: 'Public keys of everybody in an encrypted chat, to seal messages to.',
    result: results.ChatKeys,
    errors: ['chat_is_open', 'chat_not_found', 'no_user_key'],
  },
  getMembers: {
    summary: 'The members of a group or channel, as far as the bot may see them.',
    result: results.Members,
    errors: ['bad_request', 'chat_not_found'],
  },
  getMember: {
    summary: 'A member of a group or channel.',
    result: results.Member,
    errors: ['bad_request', 'chat_not_found', 'member_not_found'],
  },
  leaveChat: {
    summary: 'Leaves a group or channel.',
    result: z.looseObject({ left: z.literal(true) }),
    errors: ['bad_request', 'chat_not_found'],
  },
  sendTyping: {
    summary: 'Shows that the bot is typing, or no longer is.',
    body: TypingBody,
    isBodyOptional: true,
    result: z.looseObject({ sent: z.boolean().describe('whether an indicator went out') }),
    errors: ['forbidden', 'chat_not_found'],
  },
  resolve: {
    summary: 'Finds who or what has a public handle.',
    result: results.Resolved,
    errors: ['bad_request', 'username_not_found', 'flood_wait'],
  },
  getUserKey: {
    summary: 'The public key of a person who shares a chat with the bot.',
    result: results.UserKey,
    errors: ['user_not_found', 'no_user_key'],
  },
  revokeToken: {
    summary: 'Revokes the token in use.',
    result: z.looseObject({ revoked: z.literal(true) }),
  },
}
