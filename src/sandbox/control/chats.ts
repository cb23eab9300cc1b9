import { z } from 'zod'
import { SEAT_STATUS } from '../../api/chat.ts'
import { join, leave, membershipOf, newMembership, usualRights } from '../rules/memberships.ts'
import { modeOf, trueMode } from '../rules/mode.ts'
import { ALL_RIGHTS, type ChatState, type Membership, type MembershipStatus } from '../state.ts'
import { memberView } from '../views/chat.ts'
import type { World } from '../world.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { accountId, botId, chatId, count, flag, personId, text, textOrNull } from './fields.ts'
import { requireMember } from './find.ts'
import { action, ControlError, definedFields, operation, type ControlContext } from './operation.ts'
import { ChatEntry, ChatMember, ChatSummary } from './results.ts'

/** What a group or channel has beside its members. */
export const ROOM_SETTINGS = {
  title: text.optional(),
  description: textOrNull.optional(),
  historyVisible: flag.optional(),
  slowModeSeconds: count.optional(),
  rosterHidden: flag.optional(),
  adminsHidden: flag.optional(),
}
const role = {
  status: z.enum(SEAT_STATUS).exclude(['left']).optional(),
  rights: z.int().min(0).max(ALL_RIGHTS).optional(),
}
const seat = { ...role, restrictedUntil: z.int().nullish(), title: textOrNull.optional() }
/** Changes of a membership; an absent field stays, or follows the status. */
type SeatChange = z.output<z.ZodObject<typeof seat>>
const inChat = { chatId, userId: accountId }

/** Chats and their members. */
export const CHATS = {
  addPrivateChat: operation(
    'A person opens a private chat with a bot; the one they have, if they have one. `name` is what ' +
      'commands call it.',
    z.strictObject({ userId: personId, botId, name: text.optional() }),
    ChatSummary,
    ({ world, find }, input) => {
      const ids = [find.person(input.userId).id, find.bot(input.botId).id]
      for (const chat of world.chats.values()) {
        const both = ids.every((id) => chat.members.has(id))
        if (chat.kind === 'private' && both) return brief(world, chat)
      }
      requireFreeName(world, input.name)
      const chat = world.addChat('private')
      chat.name = input.name ?? null
      for (const id of ids) chat.members.set(id, newMembership(chat, 'member'))
      return brief(world, chat)
    },
  ),
  addRoom: operation(
    'A group or channel; the first of `members` owns it. Readable only with `historyVisible`. ' +
      '`name` is what commands call it.',
    z.strictObject({
      kind: z.enum(['group', 'channel']),
      members: z.array(accountId),
      name: text.optional(),
      username: text.optional(),
      ...ROOM_SETTINGS,
    }),
    ChatSummary,
    (context, { members, ...input }) => {
      const { world } = context
      const { kind, username } = input
      for (const id of members) requireAddable(context, id)
      requireFreeName(world, input.name)
      if (username !== undefined) requireFreeHandle(world, username)
      const chat = world.addChat(kind)
      Object.assign(chat, { title: kind }, definedFields(input))
      if (username !== undefined) claimHandle(world, username, { chat: chat.id })
      for (const [index, userId] of members.entries()) {
        chat.members.set(userId, newMembership(chat, index === 0 ? 'owner' : 'member'))
      }
      return brief(world, chat)
    },
  ),
  changeChat: operation(
    'Changes a group or channel; opening its history makes it readable.',
    z.strictObject({ chatId, ...ROOM_SETTINGS }),
    ChatSummary,
    ({ world, find }, { chatId: id, ...changes }) => {
      const chat = find.chat(id)
      Object.assign(chat, definedFields(changes))
      return brief(world, chat)
    },
  ),
  join: operation(
    'Joins, or is added by an administrator. The chat gets a service notice.',
    z.strictObject({ ...inChat, ...role }),
    ChatMember,
    (context, input) => {
      const chat = context.find.room(input.chatId)
      const { userId, status = 'member', rights: held } = input
      requireAddable(context, userId)
      requireSeat(status, { rights: held })
      join(context.world, chat, { userId, status, rights: held })
      return memberView(context.world, chat, userId)
    },
  ),
  leave: action(
    'Leaves, or is removed. The chat gets a service notice.',
    z.strictObject(inChat),
    { left: true },
    ({ world, find }, o) => {
      const chat = find.room(o.chatId)
      requireMember(chat, o.userId)
      leave(world, chat, o.userId)
    },
  ),
  setMembership: operation(
    'Makes a member an administrator, restricts a member, and the like. With another status come its ' +
      'usual rights: all for an owner and an administrator (whose `rights` can be fewer), none for others.',
    z.strictObject({ ...inChat, ...seat }),
    ChatMember,
    ({ world, find }, { chatId: id, userId, ...changes }) => {
      const chat = find.room(id)
      requireMember(chat, userId)
      const membership = membershipOf(world, chat, userId)
      if (membership !== undefined) changeSeat(membership, changes)
      return memberView(world, chat, userId)
    },
  ),
  chats: operation(
    'Every chat, with the ids of its members.',
    z.strictObject({}),
    z.array(ChatEntry),
    ({ world }) =>
      Array.from(world.chats.values(), (chat) => {
        const members = [...chat.members.keys()]
        const modes = { mode: modeOf(world, chat), trueMode: trueMode(world, chat) }
        return ChatEntry.parse({ ...chat, ...modes, members })
      }),
  ),
}

/** @throws ControlError when another chat has the name */
function requireFreeName(world: World, name: string | undefined): void {
  const isTaken = [...world.chats.values()].some((chat) => chat.name === name)
  if (name !== undefined && isTaken) throw new ControlError(`a chat is called ${name} already`)
}

/** @throws ControlError for a bot whose owner forbids groups, and for a closed account */
function requireAddable({ world, find }: ControlContext, userId: number): void {
  const bot = world.bots.get(userId)
  if (bot === undefined) find.presentPerson(userId)
  else if (!bot.allowGroups) throw new ControlError(`${userId} may not be added to groups`)
}

const brief = (world: World, chat: ChatState) =>
  ChatSummary.parse({ ...chat, mode: modeOf(world, chat) })

/**
 * Changes a membership. A new status brings its usual rights and ends a restriction.
 * @throws ControlError as `requireSeat` does
 */
function changeSeat(member: Membership, change: SeatChange): void {
  const status = change.status ?? member.status
  requireSeat(status, change)
  const isOther = status !== member.status
  const renewed = isOther ? { rights: usualRights(status), restrictedUntil: null } : {}
  Object.assign(member, renewed, definedFields(change))
}

/**
 * @throws ControlError for rights that do not go with the status, and for an end of a restriction
 *   that there is not
 */
function requireSeat(status: MembershipStatus, { rights, restrictedUntil }: SeatChange): void {
  if (rights !== undefined && status !== 'admin' && rights !== usualRights(status)) {
    const held = status === 'owner' ? `every right (${ALL_RIGHTS})` : 'no rights (0)'
    throw new ControlError(`rights: with the status ${status} one holds ${held}`)
  }
  if (typeof restrictedUntil === 'number' && status !== 'restricted') {
    throw new ControlError('restrictedUntil: only with the status restricted')
  }
}
