import type { Command } from '../api/command.ts'
import type { WorldClock } from './clock.ts'
import { plainKind, type Persistence, type RecordKind } from './persistence/persistence.ts'
import { RateWindows } from './rules/rate-windows.ts'
import type {
  BotRecord,
  BotState,
  ChatRecord,
  ChatState,
  Membership,
  PressState,
  StoredMessage,
  WorldEvent,
} from './state.ts'
import { UpdateQueue, type IdCounter, type QueuedUpdate } from './update-queue.ts'

/** What a bot's maps and queue are made from; a `World` is one. */
export interface BotResources {
  persistence: Persistence
  clock: WorldClock
  rules: { rates: 'spec' | 'off' }
  counter(name: string): IdCounter
  emit(event: WorldEvent): void
}

/** The rate windows of an owner: a bot, or all callers' addresses. */
export function storedRateWindows(
  persistence: Persistence,
  rates: 'spec' | 'off',
  owner: string,
): RateWindows {
  return new RateWindows(rates, persistence.map(plainKind('window'), owner))
}

/** A bot is stored as its record. Its queue, commands and so on are maps of their own. */
export function botKind(world: BotResources): RecordKind<BotState> {
  return {
    name: 'bot',
    write: (bot) => pick(bot, BOT_FIELDS),
    read: (stored) => restoreBot(world, stored as BotRecord),
  }
}

/** A chat is stored without its members and messages, which are maps of their own. */
export function chatKind(persistence: Persistence): RecordKind<ChatState> {
  return {
    name: 'chat',
    write: (chat) => pick(chat, CHAT_FIELDS),
    read: (stored) => restoreChat(persistence, stored as ChatRecord),
  }
}

/** Adds the maps and the queue of a bot to its record. */
export function restoreBot(world: BotResources, record: BotRecord): BotState {
  const { persistence, clock, rules } = world
  const { id } = record
  const queued = persistence.map<number, QueuedUpdate>(plainKind('update'), id)
  const queue = new UpdateQueue(clock, queued, world.counter(`bot ${id}`))
  queue.onPush((update) => world.emit({ kind: 'queued', botId: id, update }))
  return {
    ...record,
    delivering: null,
    queue,
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

/** Adds the maps of a chat to its record. */
export function restoreChat(persistence: Persistence, record: ChatRecord): ChatState {
  return {
    ...record,
    // Files of earlier versions hold no name.
    name: (record as Partial<ChatRecord>).name ?? null,
    // Files of the first version call a membership so.
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
  'name',
  'title',
  'username',
  'description',
  'historyVisible',
  'slowModeSeconds',
  'rosterHidden',
  'adminsHidden',
  'nextMessageId',
]

function pick<R extends object>(state: R, fields: readonly (keyof R)[]): Partial<R> {
  return Object.fromEntries(fields.map((name) => [name, state[name]])) as Partial<R>
}
