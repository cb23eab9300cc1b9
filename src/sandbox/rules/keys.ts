import type { BotState, ChatState, PersonState, PublishedKey } from '../state.ts'
import type { World } from '../world.ts'

/** The key that a person or a bot published, or null. */
export const publishedKey = (world: World, userId: number): PublishedKey | null =>
  world.people.get(userId)?.key ?? world.bots.get(userId)?.key ?? null

/**
 * Publishes a bot's key: from now on its private chats are encrypted and every phone learns the
 * fingerprint. Under the fault `late-key` this happens only after its `delayMs`.
 */
export function publishBotKey(world: World, bot: BotState, key: PublishedKey): void {
  const fault = world.faults.takeRule('late-key', bot.id)
  if (fault === null) {
    setKey(world, bot, key)
    return
  }
  // oxlint-disable-next-line typescript/no-floating-promises -- a clock never rejects
  void world.clock
    .wait(fault.delayMs ?? 0, world.closing.signal)
    .then((due) => (due ? setKey(world, bot, key) : undefined))
}

/** Sets the key of a bot or person; null removes it, as a bot's owner can. */
export function setKey(world: World, account: BotState | PersonState, key: PublishedKey | null) {
  account.key = key
  world.emit({ kind: 'key', userId: account.id, fingerprint: key?.fingerprint ?? null })
}

/**
 * The keys of an encrypted chat's members, without the account that asks, other bots in privacy
 * mode, and members with no key (spec, GET /chats/{id}/keys).
 */
export const listedKeys = (world: World, chat: ChatState, askerId: number) =>
  [...chat.members.keys()].flatMap((id) => {
    const key = publishedKey(world, id)
    const addressedOnly = world.bots.get(id)?.privacyMode === true
    return key === null || id === askerId || addressedOnly ? [] : [{ userId: id, ...key }]
  })
