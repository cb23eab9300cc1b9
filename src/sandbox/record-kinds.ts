import type { WorldClock } from './clock.ts'
import type { EventBody } from './events/event.ts'
import type { Persistence, RecordKind } from './persistence/persistence.ts'
import { RateWindows } from './rules/rate-windows.ts'
import type { BotRecord, BotState, ChatRecord, ChatState } from './state.ts'
import { UpdateQueue, type IdCounter } from './update-queue.ts'

/** What a bot's maps and queue are made from; a `World` is one. */
export interface BotResources {
  persistence: Persistence
  clock: WorldClock
  rules: { rates: 'spec' | 'off' }
  counter(name: string): IdCounter
  emit(event: EventBody): void
}

/** The rate windows of an owner: a bot, or all callers' addresses. */
export function storedRateWindows(
  persistence: Persistence,
  rates: 'spec' | 'off',
  owner: string,
): RateWindows {
  return new RateWindows(rates, persistence.map('window', owner))
}

/** A bot is stored as its record. Its queue, commands and so on are maps of their own. */
export function botKind(world: BotResources): RecordKind<BotState> {
  return {
    name: 'bot',
    write: ({
      delivering: _delivering,
      queue: _queue,
      windows: _windows,
      commands: _commands,
      sent: _sent,
      typing: _typing,
      presses: _presses,
      ...record
    }) => record,
    read: (stored) => restoreBot(world, stored as BotRecord),
  }
}

/** A chat is stored without its members and messages, which are maps of their own. */
export function chatKind(persistence: Persistence): RecordKind<ChatState> {
  return {
    name: 'chat',
    write: ({ members: _members, messages: _messages, ...record }) => record,
    read: (stored) => restoreChat(persistence, stored as ChatRecord),
  }
}

/** Adds the maps and the queue of a bot to its record. */
export function restoreBot(world: BotResources, record: BotRecord): BotState {
  const { persistence, clock, rules } = world
  const { id } = record
  const queue = new UpdateQueue(clock, persistence.map('update', id), world.counter(`bot ${id}`))
  queue.onPush(({ updateId, kind: updateKind }) =>
    world.emit({ kind: 'queued', botId: id, updateId, updateKind }),
  )
  return {
    ...record,
    delivering: null,
    queue,
    windows: storedRateWindows(persistence, rules.rates, `bot ${id}`),
    commands: persistence.map('commands', id),
    sent: persistence.map('sent', id),
    typing: persistence.map('typing', id),
    presses: persistence.map('press', id),
  }
}

/** Adds the maps of a chat to its record. Members have the name of the format’s first version. */
export function restoreChat(persistence: Persistence, record: ChatRecord): ChatState {
  const { id } = record
  return {
    ...record,
    members: persistence.map('seat', id),
    messages: persistence.map('message', id),
  }
}
