import { callbackAnswerOf } from '../../api/buttons.ts'
import { OpenDeleteBody, OpenEditBody, OpenSendBody } from '../../api/send.ts'
import { apiError } from '../api-error.ts'
import { expectedKind, readContent, readMarkup } from '../rules/content.ts'
import { applyDeletion, applyEdit, post } from '../rules/post.ts'
import { findChat, findMessage, pathId } from '../rules/find.ts'
import { mayDelete, requireReachable, requireWritable } from '../rules/memberships.ts'
import { modeOf } from '../rules/mode.ts'
import { countMessage } from '../rules/rate-limits.ts'
import { parseInput, type BotCall, type RouteHandler } from './call.ts'

/** POST /messages */
export const sendMessage: RouteHandler = ({ world, bot, body }) => {
  const asked = parseInput(OpenSendBody, body)
  const chat = findChat(world, bot, asked.chatId)
  const before = asked.sendId === undefined ? undefined : bot.sent.get(asked.sendId)
  if (before !== undefined) {
    if (before.chatId !== chat.id)
      throw apiError('conflict', 'sendId: already used in another chat')
    return { result: { id: before.messageId, date: before.date } }
  }
  requireWritable(world, chat, bot)
  const expected = expectedKind(modeOf(world, chat))
  const content = readContent(world, asked, modeOf(world, chat))
  if (content === null) throw apiError('bad_request', `${expected}: required`, { expected })
  const markup = asked.markup === undefined ? null : readMarkup(world, asked.markup)
  countMessage(world, { bot, chat, what: 'send' })
  const { replyTo, sendId } = asked
  const { id, date } = post(world, { chat, fromId: bot.id, ...content, replyTo, markup })
  if (sendId !== undefined) bot.sent.set(sendId, { chatId: chat.id, messageId: id, date })
  return { status: 201, result: { id, date } }
}

/** PATCH /messages/{messageId}: any ordinary message of the bot's own, however old. */
export const editMessage: RouteHandler = ({ world, bot, params, body }) => {
  const asked = parseInput(OpenEditBody, body)
  const chat = findChat(world, bot, asked.chatId)
  const message = findMessage(chat, pathId(params['messageId']))
  if (message.fromId !== bot.id || message.kind !== 'user') {
    throw apiError('forbidden', 'not an ordinary message of the bot’s own')
  }
  requireReachable(world, chat, bot)
  const content = readContent(world, asked, modeOf(world, chat))
  if (content === null && asked.markup === undefined) {
    const expected = expectedKind(modeOf(world, chat))
    throw apiError('bad_request', `${expected} or markup: nothing would change`, { expected })
  }
  const { markup } = asked
  const keyboard = markup === undefined || markup === null ? markup : readMarkup(world, markup)
  countMessage(world, { bot, chat, what: 'edit' })
  applyEdit(world, { chat, message, content, markup: keyboard })
  return { result: { id: message.id, date: message.date } }
}

/** DELETE /messages/{messageId} */
export const deleteMessage: RouteHandler = (call) => {
  const { world, bot } = call
  const chat = findChat(world, bot, chatIdOf(call))
  const message = findMessage(chat, pathId(call.params['messageId']))
  if (message.kind !== 'user') throw apiError('forbidden', 'service notices cannot be deleted')
  if (!mayDelete(world, { chat, message, userId: bot.id })) {
    throw apiError('forbidden', 'not the bot’s own message, and it has no right to delete others’')
  }
  applyDeletion(world, chat, message)
  return { result: { deleted: true } }
}

/** `chatId` is in the query, in an optional body, or in both when they agree. */
function chatIdOf({ query, body }: BotCall): number {
  const { chatId } = query as { chatId?: unknown }
  const inBody = body === undefined ? undefined : parseInput(OpenDeleteBody, body).chatId
  if (chatId === undefined) {
    if (inBody === undefined) throw apiError('bad_request', 'chatId: required')
    return inBody
  }
  const inQuery = typeof chatId === 'string' && /^-?\d{1,16}$/.test(chatId) ? Number(chatId) : NaN
  if (!Number.isSafeInteger(inQuery)) throw apiError('bad_request', 'chatId: must be an integer')
  if (inBody !== undefined && inBody !== inQuery) {
    throw apiError('bad_request', 'chatId: query and body differ')
  }
  return inQuery
}

/** POST /callbacks/{callbackId}/answer: once, and within `callbackWindowMs` of the press. */
export const answerCallback: RouteHandler = ({ world, bot, params, body }) => {
  const { text, alert, url } = parseInput(
    callbackAnswerOf(world.limits.values),
    body === undefined ? {} : body,
  )
  const press = bot.presses.get(params['callbackId'] ?? '')
  if (press === undefined) throw apiError('callback_not_found', 'no such press for this bot')
  if (press.answer !== null) throw apiError('callback_answered', 'already answered')
  if (world.clock.now() - press.pressedAt > world.limits.values.callbackWindowMs) {
    throw apiError('callback_expired', 'the press is too old')
  }
  press.answer = { text: text ?? null, alert, url: url ?? null }
  const { id: callbackId, botId, userId, chatId, messageId } = press
  const ids = { callbackId, botId, userId, chatId, messageId }
  world.emit({ kind: 'answer', ...ids, ...press.answer })
  return { result: { answered: true } }
}
