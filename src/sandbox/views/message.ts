import { deliveredText } from '../../api/text.ts'
import type { BotState, ChatState, MediaState, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { accountView } from './accounts.ts'

/** Words that contain this header travel as `armored` even in a readable chat (spec, Message). */
const PGP_HEADER = '-----BEGIN PGP MESSAGE-----'

interface Seen {
  chat: ChatState
  message: StoredMessage
  bot: BotState
}

/**
 * A Message as an update shows it to one bot: the quoted message stands in `replyTo`, without
 * what it quotes itself; of one from before the bot arrived only the id.
 */
export function messageView(world: World, seen: Seen): Record<string, unknown> {
  return { ...plainView(world, seen), replyTo: quoteView(world, seen) }
}

function plainView(world: World, { chat, message }: Seen): Record<string, unknown> {
  return {
    id: message.id,
    chat: { id: chat.id, kind: chat.kind },
    from: accountView(world, message.fromId),
    date: message.date,
    replyTo: null,
    kind: message.kind,
    ...contentView(message),
    media: message.media.map(mediaView),
  }
}

function contentView({ text, armored }: StoredMessage): { text?: string; armored?: string } {
  if (armored !== null) return { armored }
  if (text === null) return {}
  return text.includes(PGP_HEADER) ? { armored: text } : { text: deliveredText(text) }
}

function quoteView(world: World, { chat, message, bot }: Seen): unknown {
  const quoted = message.replyTo === null ? undefined : chat.messages.get(message.replyTo)
  if (quoted === undefined) return null
  const first = chat.seats.get(bot.id)?.firstMessageId ?? 0
  return quoted.id < first ? { id: quoted.id } : plainView(world, { chat, message: quoted, bot })
}

function mediaView({ id, durationMs }: MediaState): Record<string, unknown> {
  return { id, url: `/media/${id}`, ...(durationMs === null ? {} : { durationMs }) }
}
