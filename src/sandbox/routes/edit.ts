import { EditBody } from '../../api/send.ts'
import { no } from '../failure.ts'
import { expectedKind, readContent } from '../rules/body-kind.ts'
import { findChat, findMessage, pathId } from '../rules/find.ts'
import { readMarkup } from '../rules/markup.ts'
import { modeOf } from '../rules/mode.ts'
import { reserve } from '../rules/rates.ts'
import { demandReachable } from '../rules/seats.ts'
import { read, type Handler } from './call.ts'

/** PATCH /messages/{messageId}: the bot's own ordinary messages, at any age. */
export const editMessage: Handler = ({ world, bot, params, body }) => {
  const asked = read(EditBody, body)
  const chat = findChat(world, bot, asked.chatId)
  const message = findMessage(chat, bot, pathId(params['messageId']))
  if (message.fromId !== bot.id || message.kind !== 'user') {
    throw no('forbidden', 'not an ordinary message of the bot’s own')
  }
  demandReachable(world, chat, bot)
  const content = readContent(asked, modeOf(world, chat))
  if (content === null && asked.markup === undefined) {
    const expected = expectedKind(modeOf(world, chat))
    throw no('bad_request', `${expected} or markup: nothing would change`, { expected })
  }
  const markup = typeof asked.markup === 'object' && asked.markup === null ? null : asked.markup
  const keyboard = markup === undefined || markup === null ? markup : readMarkup(markup)
  reserve(world, { bot, chat, what: 'edit' })()
  if (content !== null) Object.assign(message, content)
  if (keyboard !== undefined) message.markup = keyboard
  message.editedAt = world.clock.now()
  world.emit({ kind: 'edited', chat, message })
  return { result: { id: message.id, date: message.date } }
}
