import type { Control } from '../../../src/sandbox/control/table.ts'
import { ALL_RIGHTS, RIGHTS } from '../../../src/sandbox/state.ts'
import type { RoomOptions, MembershipOptions } from '../stage.ts'
import type { Surroundings } from './home.ts'

/** Makes a room of alice, bob, the other `members`, and the bot. */
export async function makeRoom(
  { control, home }: Surroundings,
  { kind = 'group', readable = false, members = [], bot, ...settings }: RoomOptions,
): Promise<number> {
  const { id } = await control.addRoom({
    kind,
    historyVisible: readable,
    members: [home.alice.id, home.bob.id, ...members, ...(bot === false ? [] : [home.bot.id])],
    ...settings,
  })
  return id
}

/** Gives somebody another membership. */
export async function setMembership(
  control: Control,
  {
    chatId,
    userId,
    deletes,
    ...membership
  }: MembershipOptions & { chatId: number; userId: number },
): Promise<void> {
  const admin = deletes === false ? ALL_RIGHTS & ~RIGHTS.deleteMessages : ALL_RIGHTS
  const rights = membership.status === 'admin' ? admin : 0
  await control.setMembership({ chatId, userId, rights, ...membership })
}
