import type { HandleOwner, World } from '../world.ts';
/** The handle of the service's own account, which bots cannot reach. */
export declare const SERVICE_HANDLE = "service";
/**
 * Gives a handle to an account or chat. A former handle of somebody else can be claimed.
 * @throws ControlError when the handle is malformed or in use
 */
export declare function claimHandle(world: World, handle: string, owner: HandleOwner): void;
/** @throws ControlError as `claimHandle` does */
export declare function requireFreeHandle(world: World, handle: string): void;
