import { USERNAME } from '../../api/chat.ts'
import { z } from 'zod'
import type { HandleOwner, World } from '../world.ts'
import { botId, chatId, personId, personNames, text, textOrNull } from './fields.ts'
import { ControlError, definedFields, operation } from './operation.ts'
import { Account } from './results.ts'

/** The handle of the service's own account, which bots cannot reach. */
export const SERVICE_HANDLE = 'service'

/**
 * Gives a handle to an account or chat. A former handle of somebody else can be claimed.
 * @throws ControlError when the handle is malformed or in use
 */
export function claimHandle(world: World, handle: string, owner: HandleOwner): void {
  requireFreeHandle(world, handle)
  world.handles.set(handle.toLowerCase(), owner)
}

/** @throws ControlError as `claimHandle` does */
export function requireFreeHandle(world: World, handle: string): void {
  if (!USERNAME.test(handle)) throw new ControlError(`${handle} does not have a handle's shape`)
  const name = handle.toLowerCase()
  const holder = world.handles.get(name)
  const current = holder === undefined ? undefined : handleOf(world, holder)
  if (name === SERVICE_HANDLE || current?.toLowerCase() === name) {
    throw new ControlError(`${handle} is taken`)
  }
}

function handleOf(world: World, owner: HandleOwner): string | null | undefined {
  if ('chat' in owner) return world.chats.get(owner.chat)?.username
  return (world.people.get(owner.account) ?? world.bots.get(owner.account))?.username
}

const former = {
  formerHandle: z
    .enum(['kept', 'released'])
    .optional()
    .describe(
      '`kept` (when absent): the old handle still resolves to its holder until somebody claims ' +
        'it; `released`: it resolves to nobody',
    ),
}

/** Handles of people, bots, groups and channels: one pool, and one holder each. */
export const RENAMES = {
  renamePerson: operation(
    'Changes a person’s handle, and their names where given.',
    z.strictObject({ userId: personId, username: text, ...personNames, ...former }),
    Account,
    ({ world, find }, { userId, ...names }) =>
      rename(world, { account: userId }, find.person(userId), names),
  ),
  renameBot: operation(
    'Changes a bot’s handle, and its name where given.',
    z.strictObject({ botId, username: text, name: text.optional(), ...former }),
    Account,
    ({ world, find }, { botId: id, ...names }) =>
      rename(world, { account: id }, find.bot(id), names),
  ),
  renameChat: operation(
    'Changes the handle of a group or channel; null takes it away.',
    z.strictObject({ chatId, username: textOrNull, ...former }),
    z.object({ id: z.int(), username: textOrNull }),
    ({ world, find }, { chatId: id, ...names }) => {
      const chat = find.chat(id)
      if (chat.kind === 'private') throw new ControlError('a private chat has no handle')
      return rename(world, { chat: id }, chat, names)
    },
  ),
}

/**
 * @param holder whose handle and other names change
 * @throws ControlError when the new handle is malformed or in use; then nothing changes
 */
function rename<Handle extends string | null>(
  world: World,
  owner: HandleOwner,
  holder: { id: number; username: string | Handle },
  given: { username: Handle; formerHandle?: 'kept' | 'released' | undefined },
): { id: number; username: Handle } {
  const { username, formerHandle, ...names } = given
  const old = holder.username?.toLowerCase()
  if (username !== null && username.toLowerCase() !== old) claimHandle(world, username, owner)
  if (formerHandle === 'released' && old !== undefined && old !== username?.toLowerCase()) {
    world.handles.delete(old)
  }
  Object.assign(holder, { username, ...definedFields(names) })
  return { id: holder.id, username }
}
