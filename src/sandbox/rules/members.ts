import { ALL_RIGHTS, type ChatState, type SeatState, type SeatStatus } from '../state.ts'
import type { World } from '../world.ts'
import { post } from './post.ts'

/** Takes a seat in a group or channel; the room is told. Nothing when already seated. */
export function join(
  world: World,
  chat: ChatState,
  o: { userId: number; status?: SeatStatus; rights?: number },
): void {
  if (chat.seats.has(o.userId)) return
  chat.seats.set(o.userId, newSeat(chat, o.status ?? 'member', o.rights))
  post(world, { chat, fromId: o.userId, kind: 'joined' })
}

/** Gives up the seat; those who stay are told. Nothing when not seated. */
export function leave(world: World, chat: ChatState, userId: number): void {
  if (!chat.seats.delete(userId)) return
  post(world, { chat, fromId: userId, kind: 'left' })
}

/** A seat from the chat's next message on. Owners hold every right, administrators too unless said. */
export function newSeat(
  chat: Pick<ChatState, 'nextMessageId'>,
  status: SeatStatus,
  rights?: number,
): SeatState {
  const usual = status === 'owner' || status === 'admin' ? ALL_RIGHTS : 0
  return {
    status,
    rights: rights ?? usual,
    restrictedUntil: null,
    title: null,
    firstMessageId: chat.nextMessageId,
    wroteAt: null,
  }
}
