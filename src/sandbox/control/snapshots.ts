import { z } from 'zod'
import { operation } from './operation.ts'
import { done } from './results.ts'

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
  reset: operation(
    'Puts the world back as it was when it was ready, with the faults of its seed.',
    z.strictObject({}),
    z.object({ reset: done }),
    async ({ host }) => {
      await host.reset()
      return { reset: true } as const
    },
  ),
  snapshots: operation(
    'Lists the snapshots, oldest first.',
    z.strictObject({}),
    z.array(Named),
    ({ host }) => host.snapshots.map((name) => ({ name })),
  ),
  removeSnapshot: operation(
    'Deletes a snapshot.',
    z.strictObject({ name: snapshotName }),
    z.object({ removed: done }),
    ({ host }, { name }) => {
      host.removeSnapshot(name)
      return { removed: true } as const
    },
  ),
}
