import { z } from 'zod'
import { SEAT_STATUS } from '../../api/endpoints.ts'
import { join, leave, newMembership } from '../rules/memberships.ts'
import { modeOf } from '../rules/mode.ts'
import type { ChatState } from '../state.ts'
import { memberView } from '../views/chat.ts'
import type { World } from '../world.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { accountId, botId, chatId, count, flag, personId, text, textOrNull } from './fields.ts'
import {
  ControlError,
  requireMember,
  given,
  operation,
  requireBot,
  requireChat,
  requirePerson,
  type ControlContext,
} from './operation.ts'

const settings = {
  title: text.optional(),
  description: textOrNull.optional(),
  historyVisible: flag.optional(),
  slowModeSeconds: count.optional(),
  rosterHidden: flag.optional(),
  adminsHidden: flag.optional(),
}
const seat = { status: z.enum(SEAT_STATUS).optional(), rights: count.optional() }
const member = { chatId, userId: accountId }

export const CHATS = {
  addPrivateChat: operation(
    'A person opens a private chat with a bot; the one they have, if they have one.',
    z.strictObject({ userId: personId, botId }),
    (on, input) => {
      const ids = [requirePerson(on, input.userId).id, requireBot(on, input.botId).id]
      for (const chat of on.world.chats.values()) {
        const both = ids.every((id) => chat.members.has(id))
        if (chat.kind === 'private' && both) return brief(on.world, chat)
      }
      const chat = on.world.addChat('private')
      for (const id of ids) chat.members.set(id, newMembership(chat, 'member'))
      return brief(on.world, chat)
    },
  ),
  addRoom: operation(
    'A group or channel; the first of `members` owns it. Readable only with `historyVisible`.',
    z.strictObject({
      kind: z.enum(['group', 'channel']),
      members: z.array(accountId),
      username: text.optional(),
      ...settings,
    }),
    (on, { kind, members, username, ...rest }) => {
      for (const id of members) requireAddable(on, id)
      if (username !== undefined) requireFreeHandle(on.world, username)
      const chat = on.world.addChat(kind)
      Object.assign(chat, { title: kind }, given(rest))
      if (username !== undefined) {
        claimHandle(on.world, username, { chat: chat.id })
        chat.username = username
      }
      for (const [index, userId] of members.entries()) {
        chat.members.set(userId, newMembership(chat, index === 0 ? 'owner' : 'member'))
      }
      return brief(on.world, chat)
    },
  ),
  changeChat: operation(
    'Changes a group or channel; opening its history makes it readable.',
    z.strictObject({ chatId, ...settings }),
    (on, { chatId: id, ...changes }) => {
      const chat = requireChat(on, id)
      Object.assign(chat, given(changes))
      return brief(on.world, chat)
    },
  ),
  join: operation(
    'Joins, or is added by an administrator; the room is told.',
    z.strictObject({ ...member, ...seat }),
    (on, input) => {
      const chat = requireRoom(on, input.chatId)
      requireAddable(on, input.userId)
      const { userId, status, rights } = input
      join(on.world, chat, {
        userId,
        ...(status === undefined ? {} : { status }),
        ...(rights === undefined ? {} : { rights }),
      })
      return memberView(on.world, chat, userId)
    },
  ),
  leave: operation('Leaves, or is removed; the room is told.', z.strictObject(member), (on, o) => {
    const chat = requireRoom(on, o.chatId)
    requireMember(chat, o.userId)
    leave(on.world, chat, o.userId)
    return { left: true }
  }),
  setSeat: operation(
    'Makes an administrator, restricts, and the like.',
    z.strictObject({
      ...member,
      ...seat,
      restrictedUntil: z.int().nullable().optional(),
      title: textOrNull.optional(),
    }),
    (on, { chatId: id, userId, ...changes }) => {
      const chat = requireChat(on, id)
      requireMember(chat, userId)
      Object.assign(chat.members.get(userId) ?? {}, given(changes))
      return memberView(on.world, chat, userId)
    },
  ),
  chats: operation('Every chat: id, kind and mode.', z.strictObject({}), ({ world }) =>
    [...world.chats.values()].map((chat) => brief(world, chat)),
  ),
}

function requireRoom(on: ControlContext, id: number): ChatState {
  const chat = requireChat(on, id)
  if (chat.kind === 'private') throw new ControlError('nobody joins or leaves a private chat')
  return chat
}

/** A bot whose owner forbids groups cannot be added, nor somebody who is gone. */
function requireAddable(on: ControlContext, userId: number): void {
  const bot = on.world.bots.get(userId)
  if (bot === undefined) {
    if (requirePerson(on, userId).gone) throw new ControlError(`${userId} closed their account`)
  } else if (!bot.allowGroups) {
    throw new ControlError(`${userId} may not be added to groups`)
  }
}

function brief(world: World, chat: ChatState) {
  return { id: chat.id, kind: chat.kind, mode: modeOf(world, chat) }
}
