import { z } from 'zod'
import { text } from './fields.ts'
import { WorldDescription, WorldInput } from './hosting.ts'
import { action, operation } from './operation.ts'

const snapshotName = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"')

const Named = z.object({ name: z.string() })

/** A world put back as it was. */
export const SNAPSHOTS = {
  snapshot: operation(
    'Keeps the world as it is now, with its clock, phones and transcript, until the sandbox ends. ' +
      'Gives the name, for `restore`; a snapshot of the same name is replaced.',
    z.strictObject({ name: snapshotName.optional() }),
    Named,
    ({ host }, { name }) => ({ name: host.snapshot(name) }),
  ),
  restore: operation(
    'Puts the world back as it was at a snapshot. Polls end with an empty answer, deliveries begin ' +
      'anew, faults end. A running clock goes on with real time.',
    z.strictObject({ name: snapshotName }),
    Named,
    async ({ host }, { name }) => {
      await host.restore(name)
      return { name }
    },
  ),
  reset: action(
    'Puts the world back as it was when it was ready, with the faults of its seed.',
    z.strictObject({}),
    { reset: true },
    ({ host }) => host.reset(),
  ),
  snapshots: operation(
    'Lists the snapshots, oldest first.',
    z.strictObject({}),
    z.array(Named),
    ({ host }) => host.snapshots.map((name) => ({ name })),
  ),
  removeSnapshot: action(
    'Deletes a snapshot.',
    z.strictObject({ name: snapshotName }),
    { removed: true },
    ({ host }, { name }) => host.removeSnapshot(name),
  ),
}

/** Worlds beside each other, each with an address, a clock, limits and a transcript of its own. */
export const WORLDS = {
  addWorld: operation(
    'Makes a world beside this one, in memory: the default one, an empty one, or that of a `seed` ' +
      '(as a seed file holds it). Gives its addresses: those of the sandbox and `path`.',
    WorldInput,
    WorldDescription,
    ({ worlds }, input) => worlds.add(input),
  ),
  removeWorld: action(
    'Ends a world that `addWorld` made, with its polls and deliveries.',
    z.strictObject({ name: text }),
    { removed: true },
    ({ worlds }, { name }) => worlds.remove(name),
  ),
  worlds: operation(
    'Gives every world with its addresses; `main` is the sandbox’s own.',
    z.strictObject({}),
    z.array(WorldDescription),
    ({ worlds }) => worlds.list(),
  ),
}
