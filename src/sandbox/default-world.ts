import type { Control } from './control/table.ts'

/** The accounts and chats of the default world. */
export interface Home {
  bot: { id: number; username: string; token: string }
  alice: { id: number; username: string }
  bob: { id: number; username: string }
  /** Alice with the bot; named `dm`. */
  privateChat: number
  /** Alice, bob and the bot; open history; named `square`. */
  readableGroup: number
  /** Alice, bob and the bot; named `backroom`. */
  encryptedGroup: number
}

/** Fills an empty world: one bot, two people, a private chat, and one group of each mode. */
export async function createDefaultWorld(control: Control): Promise<Home> {
  const alice = await control.addPerson({ username: 'alice', firstName: 'Alice' })
  const bob = await control.addPerson({ username: 'bob', firstName: 'Bob' })
  const bot = await control.addBot({ username: 'echo_bot', name: 'Echo' })
  const members = [alice.id, bob.id, bot.id]
  const dm = await control.addPrivateChat({ userId: alice.id, botId: bot.id, name: 'dm' })
  const square = { kind: 'group', name: 'square', title: 'Market square', members } as const
  const backroom = { kind: 'group', name: 'backroom', title: 'Back room', members } as const
  const { id: readableGroup } = await control.addRoom({ ...square, historyVisible: true })
  const { id: encryptedGroup } = await control.addRoom(backroom)
  return { bot, alice, bob, privateChat: dm.id, readableGroup, encryptedGroup }
}
