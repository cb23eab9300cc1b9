import type { BotState, ChatState, SeatState } from '../state.ts'
import { modeOf, parties } from '../rules/mode.ts'
import { seatOf } from '../rules/seats.ts'
import type { World } from '../world.ts'
import { accountView } from './accounts.ts'

/** Result of `GET /chats/{chatId}` for one bot. */
export function chatView(world: World, chat: ChatState, bot: BotState): Record<string, unknown> {
  return {
    id: chat.id,
    kind: chat.kind,
    ...(chat.kind === 'private' ? {} : { title: chat.title }),
    username: chat.username,
    mode: modeOf(world, chat),
    description: chat.description,
    memberCount: chat.seats.size,
    historyVisible:
      world.faults.standing('claim-mode', chat.id)?.historyVisible ?? chat.historyVisible,
    slowModeSeconds: chat.slowModeSeconds,
    me: ownSeat(seatOf(world, chat, bot.id)),
    ...(chat.kind === 'private' ? otherView(world, chat, bot) : {}),
  }
}

function ownSeat(seat: SeatState | undefined): Record<string, unknown> {
  return {
    status: seat?.status ?? 'left',
    rights: seat?.rights ?? 0,
    restrictedUntil: seat?.restrictedUntil ?? null,
  }
}

/** A private chat carries the other person and whether they blocked the bot or are gone. */
function otherView(world: World, chat: ChatState, bot: BotState): Record<string, unknown> {
  const { person } = parties(world, chat)
  return {
    user: accountView(world, person.id),
    blocked: person.blocked.includes(bot.id),
    gone: person.gone,
  }
}

/** A roster entry: a person or bot with a seat. */
export function memberView(world: World, chat: ChatState, userId: number): Record<string, unknown> {
  const seat = seatOf(world, chat, userId)
  return {
    ...accountView(world, userId),
    status: seat?.status ?? 'left',
    rights: seat?.rights ?? 0,
    title: seat?.title ?? null,
  }
}
