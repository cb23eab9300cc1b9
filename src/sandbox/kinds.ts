import type { Command } from '../api/command.ts'
import { plain, type Keep, type Kind } from './keep/keep.ts'
import { Windows } from './rules/windows.ts'
import type {
  BotRecord,
  BotState,
  ChatRecord,
  ChatState,
  PressState,
  SeatState,
  StoredMessage,
} from './state.ts'
import { Mailbox, type Queued } from './updates/mailbox.ts'
import type { World } from './world.ts'

/** Windows of whoever it is: a bot’s, by its id, or those of callers’ addresses. */
export function keptWindows(keep: Keep, rates: 'spec' | 'off', owner: string): Windows {
  return new Windows(rates, keep.map(plain('window'), owner))
}

/** A bot is written as its record; what it has many of is kept in maps of its own. */
export function botKind(world: World): Kind<BotState> {
  return {
    name: 'bot',
    write: (bot) => recordOf(bot, BOT_FIELDS),
    read: (stored) => liveBot(world, stored as BotRecord),
  }
}

/** A chat likewise, without its seats and messages. */
export function chatKind(keep: Keep): Kind<ChatState> {
  return {
    name: 'chat',
    write: (chat) => recordOf(chat, CHAT_FIELDS),
    read: (stored) => liveChat(keep, stored as ChatRecord),
  }
}

/** Gives a bot’s record what it lives by. */
export function liveBot(world: World, record: BotRecord): BotState {
  const { keep, clock, rules } = world
  const { id } = record
  return {
    ...record,
    delivering: null,
    mailbox: new Mailbox(clock, keep.map(plain<Queued>('update'), id), world.counter(`bot ${id}`)),
    windows: keptWindows(keep, rules.rates, `bot ${id}`),
    commands: keep.map(plain<Command[]>('commands'), id),
    sent: keep.map(plain<{ chatId: number; messageId: number; date: number }>('sent'), id),
    typing: keep.map(plain<{ sentAt: number; showing: boolean }>('typing'), id),
    presses: keep.map(plain<PressState>('press'), id),
  }
}

export function liveChat(keep: Keep, record: ChatRecord): ChatState {
  return {
    ...record,
    seats: keep.map(plain<SeatState>('seat'), record.id),
    messages: keep.map(plain<StoredMessage>('message'), record.id),
  }
}

const BOT_FIELDS: readonly (keyof BotRecord)[] = [
  'id',
  'username',
  'name',
  'about',
  'description',
  'key',
  'privacyMode',
  'allowGroups',
  'status',
  'token',
  'webhook',
  'ownerNotices',
]
const CHAT_FIELDS: readonly (keyof ChatRecord)[] = [
  'id',
  'kind',
  'title',
  'username',
  'description',
  'historyVisible',
  'slowModeSeconds',
  'rosterHidden',
  'adminsHidden',
  'nextMessageId',
]

function recordOf<R extends object>(live: R, fields: readonly (keyof R)[]): Partial<R> {
  return Object.fromEntries(fields.map((name) => [name, live[name]])) as Partial<R>
}
