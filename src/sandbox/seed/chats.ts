import type { Control } from '../control/table.ts'
import { RIGHTS } from '../state.ts'
import { parseDurationMs } from './duration.ts'
import type { Names } from './ids.ts'
import type { Seed, SeedRoomChat } from './schema.ts'

type SeedSeat = Exclude<SeedRoomChat['members'][string], string>

/** Makes a chat of any kind, everybody in their members. Gives its id. */
export async function addChat(
  control: Control,
  o: { name: string; chat: Seed['chats'][string]; names: Names; beginsMs: number },
): Promise<number> {
  const { chat, names } = o
  if (chat.kind === 'private') {
    const place = { userId: names.account(chat.person), botId: names.account(chat.bot) }
    return (await control.addPrivateChat(place)).id
  }
  const { kind, mode, members, history: _later, ...settings } = chat
  const handles = Object.keys(members)
  const { id } = await control.addRoom({
    kind,
    historyVisible: mode === 'open',
    members: handles.map((handle) => names.account(handle)),
    ...settings,
    title: settings.title ?? o.name,
  })
  for (const [handle, given] of Object.entries(members)) {
    const seat: SeedSeat = typeof given === 'string' ? { status: given } : given
    await control.setSeat({
      chatId: id,
      userId: names.account(handle),
      ...membershipOf(seat, o.beginsMs),
    })
  }
  return id
}

function membershipOf({ status, rights, restrictedFor, title }: SeedSeat, beginsMs: number) {
  const isAdmin = status === 'owner' || status === 'admin'
  const all = Object.keys(RIGHTS) as (keyof typeof RIGHTS)[]
  const held = rights ?? (isAdmin ? all : [])
  return {
    status,
    rights: held.reduce((bits, right) => bits | RIGHTS[right], 0),
    restrictedUntil: restrictedFor === undefined ? null : beginsMs + parseDurationMs(restrictedFor),
    title: title ?? null,
  }
}
