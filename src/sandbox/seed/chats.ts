import type { Control } from '../control/table.ts'
import { RIGHTS } from '../state.ts'
import { parseDurationMs } from './schema.ts'
import type { SeedIds } from './ids.ts'
import type { Seed, SeedRoom } from './schema.ts'

type SeedMembership = Exclude<SeedRoom['members'][string], string>

/** Makes a chat of a seed with its members. Gives its id. */
export async function addChat(
  control: Control,
  o: { name: string; chat: Seed['chats'][string]; ids: SeedIds; beginsMs: number },
): Promise<number> {
  const { chat, ids } = o
  if (chat.kind === 'private') {
    const members = { userId: ids.account(chat.person), botId: ids.account(chat.bot) }
    return (await control.addPrivateChat(members)).id
  }
  const { kind, mode, members, history: _later, ...settings } = chat
  const handles = Object.keys(members)
  const { id } = await control.addRoom({
    kind,
    historyVisible: mode === 'open',
    members: handles.map((handle) => ids.account(handle)),
    ...settings,
    title: settings.title ?? o.name,
  })
  for (const [handle, member] of Object.entries(members)) {
    const membership: SeedMembership = typeof member === 'string' ? { status: member } : member
    await control.setMembership({
      chatId: id,
      userId: ids.account(handle),
      ...toMembership(membership, o.beginsMs),
    })
  }
  return id
}

function toMembership({ status, rights, restrictedFor, title }: SeedMembership, beginsMs: number) {
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
