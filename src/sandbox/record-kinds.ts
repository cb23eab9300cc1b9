import type { Command } from '../api/command.ts'
import { plainKind, type Persistence, type RecordKind } from './persistence/persistence.ts'
import { RateWindows } from './rules/rate-windows.ts'
import type {
  BotRecord,
  BotState,
  ChatRecord,
  ChatState,
  PressState,
  Membership,
  StoredMessage,
} from './state.ts'
import { UpdateQueue, type QueuedUpdate } from './update-queue.ts'
import type { World } from './world.ts'

/** RateWindows of whoever it is: a bot’s, by its id, or those of callers’ addresses. */
export function storedRateWindows(
  persistence: Persistence,
  rates: 'spec' | 'off',
  owner: string,
): RateWindows {
  return new RateWindows(rates, persistence.map(plainKind('window'), owner))
}

/** A bot is written as its record; what it has many of is kept in maps of its own. */
export function botKind(world: World): RecordKind<BotState> {
  return {
    name: 'bot',
    write: (bot) => recordOf(bot, BOT_FIELDS),
    read: (stored) => restoreBot(world, stored as BotRecord),
  }
}

/** A chat likewise, without its members and messages. */
export function chatKind(persistence: Persistence): RecordKind<ChatState> {
  return {
    name: 'chat',
    write: (chat) => recordOf(chat, CHAT_FIELDS),
    read: (stored) => restoreChat(persistence, stored as ChatRecord),
  }
}

/** Gives a bot’s record what it lives by. */
export function restoreBot(world: World, record: BotRecord): BotState {
  const { persistence, clock, rules } = world
  const { id } = record
  return {
    ...record,
    delivering: null,
    queue: new UpdateQueue(
      clock,
      persistence.map(plainKind<QueuedUpdate>('update'), id),
      world.counter(`bot ${id}`),
    ),
    windows: storedRateWindows(persistence, rules.rates, `bot ${id}`),
    commands: persistence.map(plainKind<Command[]>('commands'), id),
    sent: persistence.map(
      plainKind<{ chatId: number; messageId: number; date: number }>('sent'),
      id,
    ),
    typing: persistence.map(plainKind<{ sentAt: number; showing: boolean }>('typing'), id),
    presses: persistence.map(plainKind<PressState>('press'), id),
  }
}

export function restoreChat(persistence: Persistence, record: ChatRecord): ChatState {
  return {
    ...record,
    members: persistence.map(plainKind<Membership>('seat'), record.id),
    messages: persistence.map(plainKind<StoredMessage>('message'), record.id),
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
