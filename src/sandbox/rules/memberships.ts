import { apiError } from '../api-error.ts'
import { ALL_RIGHTS, RIGHTS } from '../state.ts'
import type { BotState, ChatState, Membership, MembershipStatus, StoredMessage } from '../state.ts'
import type { World } from '../world.ts'
import { parties } from './mode.ts'
import { post } from './post.ts'

/** A message of a chat, and who would do something to it. */
type MessageUse = { chat: ChatState; message: StoredMessage; userId: number }

/** The membership as of now: a restriction that has run out is lifted. */
export function membershipOf(world: World, chat: ChatState, id: number): Membership | undefined {
  const member = chat.members.get(id)
  if (member?.status !== 'restricted' || member.restrictedUntil === null) return member
  return member.restrictedUntil <= world.clock.now()
    ? Object.assign(member, { status: 'member', restrictedUntil: null })
    : member
}

export const isAdmin = (member: Membership | undefined): boolean =>
  member?.status === 'owner' || member?.status === 'admin'

/** Whether the member holds one of `RIGHTS`; an owner holds them all. */
export function hasRight(member: Membership | undefined, right: keyof typeof RIGHTS): boolean {
  if (member?.status === 'owner') return true
  return member?.status === 'admin' && (member.rights & RIGHTS[right]) !== 0
}

/** @throws SandboxApiError `blocked_by_user` or `user_gone`, in private chats alone */
export function requireReachable(world: World, chat: ChatState, bot: BotState): void {
  const problem = reachProblem(world, chat, bot)
  if (problem === 'user_gone') throw apiError(problem, 'this person closed their account')
  if (problem !== null) throw apiError(problem, 'this person blocked the bot')
}

/** Why a bot does not reach the person of a private chat; null where it does, and in other chats. */
export function reachProblem(world: World, chat: ChatState, bot: BotState) {
  if (chat.kind !== 'private') return null
  const { person } = parties(world, chat)
  if (person.gone) return 'user_gone'
  return person.blocked.includes(bot.id) ? 'blocked_by_user' : null
}

/** @throws SandboxApiError `forbidden`, `blocked_by_user` or `user_gone`, unless the bot may write */
export function requireWritable(world: World, chat: ChatState, bot: BotState): void {
  requireReachable(world, chat, bot)
  requireWriter(world, chat, bot)
}

/** @throws SandboxApiError `forbidden`, unless the bot's membership lets it write */
export function requireWriter(world: World, chat: ChatState, bot: BotState): void {
  const member = membershipOf(world, chat, bot.id)
  if (!mayWrite(chat, member)) throw apiError('forbidden', 'the bot may not write in this chat')
}

/** A restricted member may not write; in a channel only administrators who may post can. */
function mayWrite(chat: ChatState, member: Membership | undefined): boolean {
  if (member === undefined || member.status === 'restricted') return false
  return chat.kind !== 'channel' || hasRight(member, 'postMessages')
}

/**
 * Why a person cannot write into a chat with their phone, or null: a restricted member and a
 * subscriber of a channel may not, nor who closed the account or, in a private chat, blocked the bot.
 */
export function writingProblem(world: World, chat: ChatState, userId: number): string | null {
  const problem = presenceProblem(world, chat, userId)
  if (problem !== null) return problem
  const member = membershipOf(world, chat, userId)
  if (mayWrite(chat, member)) return null
  return member?.status === 'restricted' ? 'they are restricted' : 'they only read this channel'
}

/**
 * Why a person cannot press a button below a message, or null. A reader of a message may press its
 * buttons, also when restricted or as a subscriber; its bot must still be in the chat.
 */
export function pressingProblem(world: World, o: MessageUse): string | null {
  const problem = presenceProblem(world, o.chat, o.userId)
  if (problem !== null || o.chat.members.has(o.message.fromId)) return problem
  return 'the bot is not in the chat any more'
}

function presenceProblem(world: World, chat: ChatState, userId: number): string | null {
  const person = world.people.get(userId)
  if (person === undefined || !chat.members.has(userId)) return `they are not in chat ${chat.id}`
  if (person.gone) return 'they closed their account'
  const isBlocked = [...chat.members.keys()].some((id) => person.blocked.includes(id))
  return chat.kind === 'private' && isBlocked ? 'they blocked the bot' : null
}

/** Whether an account may delete a message: its own, or with the right in a group or channel. */
export function mayDelete(world: World, { chat, message, userId }: MessageUse): boolean {
  if (message.fromId === userId) return true
  return chat.kind !== 'private' && hasRight(membershipOf(world, chat, userId), 'deleteMessages')
}

/** Adds a member to a group or channel, with a service notice. A member stays as it is. */
export function join(
  world: World,
  chat: ChatState,
  o: { userId: number; status: MembershipStatus; rights?: number | undefined },
): void {
  if (chat.members.has(o.userId)) return
  chat.members.set(o.userId, newMembership(chat, o.status, o.rights))
  post(world, { chat, fromId: o.userId, kind: 'joined' })
}

/** Removes a member, with a service notice. Does nothing for an account that is no member. */
export function leave(world: World, chat: ChatState, userId: number): void {
  if (!chat.members.delete(userId)) return
  post(world, { chat, fromId: userId, kind: 'left' })
}

/**
 * A membership that begins with the chat's next message. By default owners and administrators hold
 * every right, other members none.
 */
export const newMembership = (
  chat: Pick<ChatState, 'nextMessageId'>,
  status: MembershipStatus,
  rights?: number,
): Membership => ({
  status,
  rights: rights ?? usualRights(status),
  restrictedUntil: null,
  title: null,
  firstMessageId: chat.nextMessageId,
  wroteAt: null,
})

/** The usual rights of a status; those of an administrator can be fewer. */
export const usualRights = (status: MembershipStatus): number =>
  status === 'owner' || status === 'admin' ? ALL_RIGHTS : 0

/**
 * Ids of the members that one of them may see. Administrators see all. Where the member list is
 * hidden, others see administrators only; a channel can hide its administrators, too.
 */
export function visibleMembers(world: World, chat: ChatState, viewerId: number): number[] {
  const ids = [...chat.members.keys()]
  if (isAdmin(membershipOf(world, chat, viewerId))) return ids
  return ids.filter((id) => {
    const admin = isAdmin(membershipOf(world, chat, id))
    if (admin && chat.kind === 'channel' && chat.adminsHidden) return false
    return admin || !chat.rosterHidden
  })
}
