import { z } from 'zod'
import { text } from './fields.ts'
import { HostedWorld, WorldInput } from './hosting.ts'
import { operation } from './operation.ts'
import { done } from './results.ts'

/** Worlds beside each other, each with an address, a clock, limits and a transcript of its own. */
export const WORLDS = {
  addWorld: operation(
    'Makes a world beside this one, in memory: the default one, an empty one, or that of a `seed` ' +
      '(as a seed file holds it). Gives its addresses: those of the sandbox and `path`.',
    WorldInput,
    HostedWorld,
    ({ worlds }, input) => worlds.add(input),
  ),
  removeWorld: operation(
    'Ends a world that `addWorld` made, with its polls and deliveries.',
    z.strictObject({ name: text }),
    z.object({ removed: done }),
    async ({ worlds }, { name }) => {
      await worlds.remove(name)
      return { removed: true } as const
    },
  ),
  worlds: operation(
    'Gives every world with its addresses; `main` is the sandbox’s own.',
    z.strictObject({}),
    z.array(HostedWorld),
    ({ worlds }) => worlds.list(),
  ),
}
