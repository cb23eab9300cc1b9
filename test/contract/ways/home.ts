import { randomBytes } from 'node:crypto'
import type { Control } from '../../../src/sandbox/control/table.ts'
import type { Home } from '../../../src/sandbox/hosted-world.ts'

/** Whom cases are played with, and the control that made them. */
export interface Surroundings {
  control: Control
  home: Home
}

const run = randomBytes(4).toString('hex')
let handles = 0

/** A handle that nobody has, also where the suite was run before. */
export const newHandle = (name: string): string => `${name}_${run}_${++handles}`

/** Creates a bot, two people with phones and their chats. */
export async function makeHome(control: Control): Promise<Home> {
  const alice = await control.addPerson({ username: newHandle('alice'), firstName: 'Alice' })
  const bob = await control.addPerson({ username: newHandle('bob'), firstName: 'Bob' })
  const bot = await control.addBot({ username: newHandle('contract_bot') })
  for (const { id } of [alice, bob]) await control.givePhone({ userId: id })
  const members = [alice.id, bob.id, bot.id]
  const readable = { kind: 'group', historyVisible: true, members } as const
  return {
    bot,
    alice,
    bob,
    privateChat: (await control.addPrivateChat({ userId: alice.id, botId: bot.id })).id,
    readableGroup: (await control.addRoom(readable)).id,
    encryptedGroup: (await control.addRoom({ kind: 'group', members })).id,
  }
}
