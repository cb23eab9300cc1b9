import { USERNAME } from '../../api/resolved.ts'
import type { HandleOwner, World } from '../world.ts'
import { ControlError } from './operation.ts'

/** The server's own account; unreachable for bots. */
export const SERVICE_HANDLE = 'service'

/**
 * Gives a handle to an account or chat. Handles that their holder no longer goes by can be taken.
 * @throws ControlError when it has not a handle's shape or somebody goes by it
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
