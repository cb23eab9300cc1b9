import type { Control } from '../control/table.ts'
import { RIGHTS } from '../state.ts'
import { parseDurationMs } from './schema.ts'
import type { SeedIds } from './ids.ts'
import type { Seed, SeedRoom } from './schema.ts'

type SeedMembership = Exclude<SeedRoom['members'][string], string>

/** Makes a chat of a seed with its members, none of them restricted yet. Gives its id. */
export async function addChat(
  control: Control,
  o: { name: string; chat: Seed['chats'][string]; ids: SeedIds },
): Promise<number> {
  const { chat, ids } = o
  if (chat.kind === 'private') {
    const members = { userId: ids.account(chat.person), botId: ids.account(chat.bot) }
    return (await control.addPrivateChat({ ...members, name: o.name })).id
  }
  const { kind, mode, members, history: _later, ...settings } = chat
  const handles = Object.keys(members)
  const { id } = await control.addRoom({
    kind,
    historyVisible: mode === 'open',
    members: handles.map((handle) => ids.account(handle)),
    ...settings,
    name: o.name,
    title: settings.title ?? o.name,
  })
  for (const [handle, { status, rights, title }] of membershipsOf(chat)) {
    await control.setMembership({
      chatId: id,
      userId: ids.account(handle),
      status: status === 'restricted' ? 'member' : status,
      rights: rights?.reduce((bits, right) => bits | RIGHTS[right], 0),
      title: title ?? null,
    })
  }
  return id
}

/** Restricts the members of a seed's chat that are restricted from the beginning. */
export async function restrictMembers(
  control: Control,
  o: { chatId: number; chat: Seed['chats'][string]; ids: SeedIds; beginsMs: number },
): Promise<void> {
  if (o.chat.kind === 'private') return
  for (const [handle, { status, restrictedFor }] of membershipsOf(o.chat)) {
    if (status !== 'restricted') continue
    const restrictedUntil =
      restrictedFor === undefined ? null : o.beginsMs + parseDurationMs(restrictedFor)
    const userId = o.ids.account(handle)
    await control.setMembership({ chatId: o.chatId, userId, status, restrictedUntil })
  }
}

function membershipsOf({ members }: SeedRoom): [string, SeedMembership][] {
  return Object.entries(members).map(([handle, member]) => [
    handle,
    typeof member === 'string' ? { status: member } : member,
  ])
}
