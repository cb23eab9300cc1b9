import type { BotState, ChatState, Membership } from '../state.ts'
import { modeOf, parties } from '../rules/mode.ts'
import { membershipOf } from '../rules/memberships.ts'
import type { World } from '../world.ts'
import { accountView } from '../rules/find.ts'

/** Result of `GET /chats/{chatId}` for one bot. */
export function chatView(world: World, chat: ChatState, bot: BotState): Record<string, unknown> {
  return {
    id: chat.id,
    kind: chat.kind,
    ...(chat.kind === 'private' ? {} : { title: chat.title }),
    username: chat.username,
    mode: modeOf(world, chat),
    description: chat.description,
    memberCount: chat.members.size,
    historyVisible:
      world.faults.activeRule('claim-mode', chat.id)?.historyVisible ?? chat.historyVisible,
    slowModeSeconds: chat.slowModeSeconds,
    me: membershipView(membershipOf(world, chat, bot.id)),
    ...(chat.kind === 'private' && personView(world, chat, bot)),
  }
}

function membershipView(membership: Membership | undefined) {
  return {
    status: membership?.status ?? ('left' as const),
    rights: membership?.rights ?? 0,
    restrictedUntil: membership?.restrictedUntil ?? null,
  }
}

/** The person of a private chat, and whether they blocked the bot or closed the account. */
function personView(world: World, chat: ChatState, bot: BotState): Record<string, unknown> {
  const { person } = parties(world, chat)
  return {
    user: accountView(world, person.id),
    blocked: person.blocked.includes(bot.id),
    gone: person.gone,
  }
}

/** An entry of the member list. */
export function memberView(world: World, chat: ChatState, userId: number) {
  const membership = membershipOf(world, chat, userId)
  return {
    ...accountView(world, userId),
    status: membership?.status ?? ('left' as const),
    rights: membership?.rights ?? 0,
    title: membership?.title ?? null,
  }
}
