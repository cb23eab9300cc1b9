import { deliveredText } from '../../api/text.ts'
import type { BotState, ChatState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { accountView } from '../rules/find.ts'

/** Text that contains this header is delivered as `armored` even in a readable chat (spec, Message). */
const PGP_HEADER = '-----BEGIN PGP MESSAGE-----'

interface MessageContext {
  chat: ChatState
  message: StoredMessage
  bot: BotState
}

/**
 * A Message as an update shows it to one bot. `replyTo` holds the quoted message without its own
 * quotation; of a message from before the bot joined it holds the id alone.
 */
export const messageView = (world: World, context: MessageContext): Record<string, unknown> => ({
  ...viewWithoutQuote(world, context),
  replyTo: quoteView(world, context),
})

const viewWithoutQuote = (world: World, { chat, message }: MessageContext) => ({
  id: message.id,
  chat: { id: chat.id, kind: chat.kind },
  from: accountView(world, message.fromId),
  date: message.date,
  replyTo: null,
  kind: message.kind,
  ...contentView(world, message),
  media: message.media.map(({ id, durationMs }) => {
    return { id, url: `/media/${id}`, ...(durationMs === null ? {} : { durationMs }) }
  }),
})

function contentView({ limits }: World, { text, armored }: StoredMessage) {
  if (armored !== null) return { armored }
  if (text === null) return {}
  if (text.includes(PGP_HEADER)) return { armored: text }
  return { text: deliveredText(text, limits.values.deliveredTextMax) }
}

function quoteView(world: World, { chat, message, bot }: MessageContext): unknown {
  const quoted = message.replyTo === null ? undefined : chat.messages.get(message.replyTo)
  if (quoted === undefined) return null
  const first = chat.members.get(bot.id)?.firstMessageId ?? 0
  return quoted.id < first
    ? { id: quoted.id }
    : viewWithoutQuote(world, { chat, message: quoted, bot })
}
