import { SendBody } from '../../api/send.ts'
import { no } from '../failure.ts'
import { expectedKind, readContent } from '../rules/body-kind.ts'
import { findChat } from '../rules/find.ts'
import { readMarkup } from '../rules/markup.ts'
import { modeOf } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import { reserve } from '../rules/rates.ts'
import { demandWritable } from '../rules/seats.ts'
import { read, type Handler } from './call.ts'

/** POST /messages */
export const sendMessage: Handler = ({ world, bot, body }) => {
  const asked = read(SendBody, body)
  const chat = findChat(world, bot, asked.chatId)
  const before = asked.sendId === undefined ? undefined : bot.sent.get(asked.sendId)
  if (before !== undefined) {
    if (before.chatId !== chat.id) throw no('conflict', 'sendId: already used in another chat')
    return { result: { id: before.messageId, date: before.date } }
  }
  demandWritable(world, chat, bot)
  const expected = expectedKind(modeOf(world, chat))
  const content = readContent(asked, modeOf(world, chat))
  if (content === null) throw no('bad_request', `${expected}: required`, { expected })
  const markup = asked.markup === undefined ? null : readMarkup(asked.markup)
  reserve(world, { bot, chat, what: 'send' })()
  const { id, date } = post(world, {
    chat,
    fromId: bot.id,
    ...content,
    replyTo: asked.replyTo ?? null,
    markup,
  })
  if (asked.sendId !== undefined)
    bot.sent.set(asked.sendId, { chatId: chat.id, messageId: id, date })
  return { status: 201, result: { id, date } }
}
