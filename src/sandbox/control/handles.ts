import { USERNAME } from '../../api/chat.ts'
import { z } from 'zod'
import type { HandleOwner, World } from '../world.ts'
import { botId, chatId, personId, personNames, text, textOrNull } from './fields.ts'
import {
  ControlError,
  definedFields,
  operation,
  requireBot,
  requireChat,
  requirePerson,
} from './operation.ts'
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

const formerHandle = z
  .enum(['kept', 'released'])
  .optional()
  .meta({
    description:
      '`kept` (when absent): the old handle still resolves to its holder until somebody claims ' +
      'it; `released`: it resolves to nobody',
  })

/** Handles of people, bots, groups and channels: one pool, and one holder each. */
export const RENAMES = {
  renamePerson: operation(
    'Changes a person’s handle, and their names where given.',
    z.strictObject({ userId: personId, username: text, ...personNames, formerHandle }),
    Account,
    (context, { userId, username, formerHandle: former = 'kept', ...names }) => {
      const person = requirePerson(context, userId)
      rename(context.world, { account: userId }, { from: person.username, to: username, former })
      Object.assign(person, { username, ...definedFields(names) })
      return { id: userId, username }
    },
  ),
  renameBot: operation(
    'Changes a bot’s handle, and its name where given.',
    z.strictObject({ botId, username: text, name: text.optional(), formerHandle }),
    Account,
    (context, { botId: id, username, name, formerHandle: former = 'kept' }) => {
      const bot = requireBot(context, id)
      rename(context.world, { account: id }, { from: bot.username, to: username, former })
      Object.assign(bot, { username, ...definedFields({ name }) })
      return { id, username }
    },
  ),
  renameChat: operation(
    'Changes the handle of a group or channel; null takes it away.',
    z.strictObject({ chatId, username: textOrNull, formerHandle }),
    z.object({ id: z.int(), username: textOrNull }),
    (context, { chatId: id, username, formerHandle: former = 'kept' }) => {
      const chat = requireChat(context, id)
      if (chat.kind === 'private') throw new ControlError('a private chat has no handle')
      rename(context.world, { chat: id }, { from: chat.username, to: username, former })
      chat.username = username
      return { id, username }
    },
  ),
}

/** @throws ControlError when the new handle is malformed or in use */
function rename(
  world: World,
  owner: HandleOwner,
  { from, to, former }: { from: string | null; to: string | null; former: 'kept' | 'released' },
): void {
  const old = from?.toLowerCase()
  if (to !== null && to.toLowerCase() !== old) claimHandle(world, to, owner)
  if (former === 'released' && old !== undefined && old !== to?.toLowerCase()) {
    world.handles.delete(old)
  }
}
