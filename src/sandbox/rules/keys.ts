import type { BotState, ChatState, PersonState, PublishedKey } from '../state.ts'
import type { World } from '../world.ts'

/** The key that a person or a bot published, or null. */
export function publishedKey(world: World, userId: number): PublishedKey | null {
  return world.people.get(userId)?.key ?? world.bots.get(userId)?.key ?? null
}

/**
 * Publishes a bot's key: from now on its private chats are encrypted and every phone learns the
 * fingerprint. Under the fault `late-key` this happens only after its `delayMs`.
 */
export function publishBotKey(world: World, bot: BotState, key: PublishedKey): void {
  const fault = world.faults.takeRule('late-key', bot.id)
  if (fault === null) {
    setBotKey(world, bot, key)
    return
  }
  // oxlint-disable-next-line typescript/no-floating-promises -- a clock never rejects
  void world.clock
    .wait(fault.delayMs ?? 0, world.closing.signal)
    .then((due) => (due ? setBotKey(world, bot, key) : undefined))
}

/** Sets a bot's key; null removes it, as the owner can. */
export function setBotKey(world: World, bot: BotState, key: PublishedKey | null): void {
  bot.key = key
  world.emit({ kind: 'key', userId: bot.id, fingerprint: key?.fingerprint ?? null })
}

export function setPersonKey(world: World, person: PersonState, key: PublishedKey): void {
  person.key = key
  world.emit({ kind: 'key', userId: person.id, fingerprint: key.fingerprint })
}

/**
 * The keys of an encrypted chat's members, without the account that asks, other bots in privacy
 * mode, and members with no key (spec, GET /chats/{id}/keys).
 */
export function listedKeys(world: World, chat: ChatState, askerId: number) {
  return [...chat.members.keys()].flatMap((id) => {
    const key = publishedKey(world, id)
    const addressedOnly = world.bots.get(id)?.privacyMode === true
    return key === null || id === askerId || addressedOnly ? [] : [{ userId: id, ...key }]
  })
}
