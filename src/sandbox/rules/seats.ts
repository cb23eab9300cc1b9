import { no } from '../failure.ts'
import { RIGHTS, type BotState, type ChatState, type SeatState } from '../state.ts'
import type { World } from '../world.ts'
import { parties } from './mode.ts'

/** A seat as it stands now: a restriction whose time is over is none. */
export function seatOf(world: World, chat: ChatState, id: number): SeatState | undefined {
  const seat = chat.seats.get(id)
  if (seat?.status !== 'restricted' || seat.restrictedUntil === null) return seat
  return seat.restrictedUntil <= world.clock.now()
    ? Object.assign(seat, { status: 'member', restrictedUntil: null })
    : seat
}

export function isAdmin(seat: SeatState | undefined): boolean {
  return seat?.status === 'owner' || seat?.status === 'admin'
}

/** Whether the seat carries one of `RIGHTS`; an owner has them all. */
export function hasRight(seat: SeatState | undefined, right: keyof typeof RIGHTS): boolean {
  if (seat?.status === 'owner') return true
  return seat?.status === 'admin' && (seat.rights & RIGHTS[right]) !== 0
}

/** @throws ServiceNo `blocked_by_user` or `user_gone` in a private chat where it holds */
export function demandReachable(world: World, chat: ChatState, bot: BotState): void {
  if (chat.kind !== 'private') return
  const { person } = parties(world, chat)
  if (person.gone) throw no('user_gone', 'this person closed their account')
  if (person.blocked.includes(bot.id)) throw no('blocked_by_user', 'this person blocked the bot')
}

/**
 * Writing where the seat allows it: nobody restricted, and in a channel only administrators who
 * may post. @throws ServiceNo `forbidden`, `blocked_by_user` or `user_gone`
 */
export function demandWritable(world: World, chat: ChatState, bot: BotState): void {
  demandReachable(world, chat, bot)
  const seat = seatOf(world, chat, bot.id)
  if (!maySpeak(chat, seat)) throw no('forbidden', 'the bot may not write in this chat')
}

/** False for the restricted and for a channel's subscribers. */
export function maySpeak(chat: ChatState, seat: SeatState | undefined): boolean {
  if (seat === undefined || seat.status === 'restricted') return false
  return chat.kind !== 'channel' || hasRight(seat, 'postMessages')
}
