import type { BotState, PersonState, PublishedKey } from '../state.ts'
import type { World } from '../world.ts'

/**
 * Publishes a bot's key: from now on its private chats are encrypted and every phone learns the
 * fingerprint. Under the fault `late-key` this happens only after its `delayMs`.
 */
export function publishBotKey(world: World, bot: BotState, key: PublishedKey): void {
  const late = world.faults.takeRule('late-key', bot.id)
  if (late === null) {
    setBotKey(world, bot, key)
    return
  }
  void world.clock
    .wait(late.delayMs ?? 0, world.closing.signal)
    .then((due) => (due ? setBotKey(world, bot, key) : undefined))
}

/** Sets or, as its owner in the console, removes a bot's key. */
export function setBotKey(world: World, bot: BotState, key: PublishedKey | null): void {
  bot.key = key
  world.emit({ kind: 'key', userId: bot.id, key })
}

export function setPersonKey(world: World, person: PersonState, key: PublishedKey): void {
  person.key = key
  world.emit({ kind: 'key', userId: person.id, key })
}
