import { SEAT_STATUS } from '../../api/endpoints.ts'
import { join, leave, newSeat } from '../rules/members.ts'
import { modeOf } from '../rules/mode.ts'
import type { ChatState } from '../state.ts'
import { memberView } from '../views/chat.ts'
import type { World } from '../world.ts'
import { claimHandle } from './handles.ts'
import {
  boolean,
  integer,
  integerOrNull,
  list,
  object,
  oneOf,
  string,
  stringOrNull,
} from './schema.ts'
import {
  ControlError,
  demandSeat,
  operation,
  theBot,
  theChat,
  thePerson,
  type Backstage,
} from './operation.ts'

const settings = {
  title: string,
  description: stringOrNull,
  historyVisible: boolean,
  slowModeSeconds: integer,
  rosterHidden: boolean,
  adminsHidden: boolean,
}
const seat = { status: oneOf(SEAT_STATUS), rights: integer }

export const CHATS = {
  /** A person opens a private chat with a bot; the one they have, if they have one. */
  addPrivateChat: operation(object({ userId: integer, botId: integer }), (on, input) => {
    const { userId, botId } = input
    thePerson(on, userId)
    theBot(on, botId)
    for (const chat of on.world.chats.values()) {
      const both = chat.seats.has(userId) && chat.seats.has(botId)
      if (chat.kind === 'private' && both) return brief(on.world, chat)
    }
    const chat = makeChat(on.world, { kind: 'private', title: null })
    for (const id of [userId, botId]) chat.seats.set(id, newSeat(chat, 'member'))
    return brief(on.world, chat)
  }),
  /** A group or channel; the first of `members` owns it. Readable only with `historyVisible`. */
  addRoom: operation(
    object(
      { kind: oneOf(['group', 'channel']), members: list(integer) },
      { ...settings, username: string },
    ),
    (on, { kind, members, username, ...rest }) => {
      for (const id of members) demandAddable(on, id)
      const chat = makeChat(on.world, { kind, title: rest.title ?? kind })
      change(chat, rest)
      if (username !== undefined) {
        claimHandle(on.world, username, { chat: chat.id })
        chat.username = username
      }
      for (const [index, userId] of members.entries()) {
        chat.seats.set(userId, newSeat(chat, index === 0 ? 'owner' : 'member'))
      }
      return brief(on.world, chat)
    },
  ),
  changeChat: operation(object({ chatId: integer }, settings), (on, { chatId, ...changes }) => {
    const chat = theChat(on, chatId)
    change(chat, changes)
    return brief(on.world, chat)
  }),
  /** Joins, or is added by an administrator; the room is told. */
  join: operation(object({ chatId: integer, userId: integer }, seat), (on, input) => {
    const chat = theRoom(on, input.chatId)
    demandAddable(on, input.userId)
    const { userId, status, rights } = input
    join(on.world, chat, {
      userId,
      ...(status === undefined ? {} : { status }),
      ...(rights === undefined ? {} : { rights }),
    })
    return memberView(on.world, chat, userId)
  }),
  /** Leaves, or is removed; the room is told. */
  leave: operation(object({ chatId: integer, userId: integer }), (on, { chatId, userId }) => {
    const chat = theRoom(on, chatId)
    demandSeat(chat, userId)
    leave(on.world, chat, userId)
    return { left: true }
  }),
  /** Makes an administrator, restricts, and the like. */
  setSeat: operation(
    object(
      { chatId: integer, userId: integer },
      { ...seat, restrictedUntil: integerOrNull, title: stringOrNull },
    ),
    (on, { chatId, userId, ...changes }) => {
      const chat = theChat(on, chatId)
      demandSeat(chat, userId)
      const given = Object.entries(changes).filter(([, value]) => value !== undefined)
      Object.assign(chat.seats.get(userId) ?? {}, Object.fromEntries(given))
      return memberView(on.world, chat, userId)
    },
  ),
  /** Every chat as the listener's first line shows it. */
  chats: operation(object({}), ({ world }) =>
    [...world.chats.values()].map((chat) => brief(world, chat)),
  ),
}

function makeChat(world: World, o: { kind: ChatState['kind']; title: string | null }): ChatState {
  const chat: ChatState = {
    id: world.nextId('chat'),
    ...o,
    username: null,
    description: null,
    historyVisible: false,
    slowModeSeconds: 0,
    rosterHidden: false,
    adminsHidden: false,
    seats: new Map(),
    messages: new Map(),
    nextMessageId: 1,
  }
  world.chats.set(chat.id, chat)
  return chat
}

function change(chat: ChatState, changes: object): void {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  Object.assign(chat, Object.fromEntries(given))
}

function theRoom(on: Backstage, chatId: number): ChatState {
  const chat = theChat(on, chatId)
  if (chat.kind === 'private') throw new ControlError('nobody joins or leaves a private chat')
  return chat
}

/** A bot whose owner forbids groups cannot be added, nor somebody who is gone. */
function demandAddable(on: Backstage, userId: number): void {
  const bot = on.world.bots.get(userId)
  if (bot === undefined) {
    if (thePerson(on, userId).gone) throw new ControlError(`${userId} closed their account`)
  } else if (!bot.allowGroups) {
    throw new ControlError(`${userId} may not be added to groups`)
  }
}

function brief(world: World, chat: ChatState) {
  return { id: chat.id, kind: chat.kind, mode: modeOf(world, chat) }
}
