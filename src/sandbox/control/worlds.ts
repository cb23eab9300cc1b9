import { z } from 'zod'
import { text } from './fields.ts'
import { operation } from './operation.ts'
import { Account, ChatSummary, done } from './results.ts'

const HostedWorld = z
  .object({
    name: text,
    path: text.describe('of the world, below the addresses of the sandbox; empty for `main`'),
    url: text.describe('base URL of its API'),
    controlUrl: text,
    bots: z.array(z.object({ id: z.int(), username: text, token: text })),
    people: z.array(Account),
    chats: z.array(ChatSummary),
  })
  .meta({ id: 'HostedWorld', description: 'A world and where it is served.' })

/** Worlds beside each other, each with an address, a clock, limits and a transcript of its own. */
export const WORLDS = {
  addWorld: operation(
    'Makes a world beside this one, in memory: the default one, an empty one, or that of a `seed` ' +
      '(as a seed file holds it). Gives its addresses: those of the sandbox and `path`.',
    z.strictObject({
      name: text.optional(),
      world: z.enum(['home', 'empty']).optional(),
      seed: z.looseObject({}).optional(),
      clock: z.enum(['running', 'still']).optional(),
      rates: z.enum(['spec', 'off']).optional(),
      webhooks: z.enum(['public', 'local']).optional(),
    }),
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
