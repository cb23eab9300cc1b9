import type { BotState, ChatState } from '../state.ts'
import { modeOf, parties } from '../rules/mode.ts'
import { membershipOf } from '../rules/memberships.ts'
import type { World } from '../world.ts'
import { accountView } from '../rules/find.ts'

/** Result of `GET /chats/{chatId}` for one bot. */
export function chatView(world: World, chat: ChatState, bot: BotState): Record<string, unknown> {
  const person = chat.kind === 'private' ? parties(world, chat).person : null
  const { status, rights, restrictedUntil } = membershipView(world, chat, bot.id)
  return {
    id: chat.id,
    kind: chat.kind,
    ...(person === null && { title: chat.title }),
    username: chat.username,
    mode: modeOf(world, chat),
    description: chat.description,
    memberCount: chat.members.size,
    historyVisible:
      world.faults.activeRule('claim-mode', chat.id)?.historyVisible ?? chat.historyVisible,
    slowModeSeconds: chat.slowModeSeconds,
    me: { status, rights, restrictedUntil },
    ...(person !== null && {
      user: accountView(world, person.id),
      blocked: person.blocked.includes(bot.id),
      gone: person.gone,
    }),
  }
}

/** A membership, also one that is over. */
function membershipView(world: World, chat: ChatState, userId: number) {
  const over = { status: 'left' as const, rights: 0, restrictedUntil: null, title: null }
  return membershipOf(world, chat, userId) ?? over
}

/** An entry of the member list. */
export function memberView(world: World, chat: ChatState, userId: number) {
  const { status, rights, title } = membershipView(world, chat, userId)
  return { ...accountView(world, userId), status, rights, title }
}
