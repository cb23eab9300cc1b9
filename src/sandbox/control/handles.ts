import { USERNAME } from '../../api/chat.ts'
import type { HandleOwner, World } from '../world.ts'
import { ControlError } from './operation.ts'

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
