import { z } from 'zod'
import { FAULTS, type FaultName } from '../faults/table.ts'
import { accountId, botId, chatId, count, flag, text } from './fields.ts'
import { given, operation } from './operation.ts'

const nothing = z.strictObject({})
const names = Object.keys(FAULTS) as FaultName[]

/** A fault by its name, and how it strikes; see src/sandbox/faults/table.ts. */
export const FaultInput = z.strictObject({
  name: z.enum(names),
  route: text.optional(),
  botId: botId.optional(),
  times: count.optional(),
  after: count.optional(),
  oneIn: count.optional(),
  seed: z.int().optional(),
  delayMs: count.optional(),
  bytes: count.optional(),
  status: z.int().optional(),
  code: text.optional(),
  retryAfter: z.int().optional(),
  retryAfterHeader: text.optional(),
  expected: z.enum(['text', 'armored']).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: text.optional(),
  location: text.optional(),
  chatId: chatId.optional(),
  mode: z.enum(['open', 'protected']).optional(),
  historyVisible: flag.optional(),
  kind: text.optional(),
  userId: accountId.optional(),
  publicKey: text.optional(),
  fingerprint: text.optional(),
})

/** Time, faults, and what the service saw. */
export const ADMIN = {
  advance: operation(
    'Moves the clock forward; what falls due on the way happens at once.',
    z.strictObject({ ms: count }),
    async ({ world, story }, { ms }) => {
      world.advance(ms)
      await story.caughtUp()
      return { now: world.clock.now() }
    },
  ),
  now: operation('What the clock says, in ms since 1970.', nothing, ({ world }) => ({
    now: world.clock.now(),
  })),
  story: operation(
    'What of the seed’s script is still to happen, and what of it could not.',
    nothing,
    ({ story }) => ({ left: story.left, mishaps: [...story.mishaps] }),
  ),
  fault: operation(
    'Sets a fault by name; gives its number.',
    FaultInput,
    ({ world }, { name, ...options }) => ({ id: world.faults.set(name, given(options)) }),
  ),
  clearFaults: operation(
    'Ends one fault by its number, or all.',
    z.strictObject({ id: z.int().optional() }),
    ({ world }, { id }) => {
      world.faults.clear(id)
      return { cleared: true }
    },
  ),
  transcript: operation(
    'Every call the service received, and what phones handed in, after number `after`.',
    z.strictObject({ after: count.optional() }),
    ({ world }, { after }) => world.transcript.list(after),
  ),
  search: operation(
    'The calls in which these words stand anywhere, in any spelling that is looked for.',
    z.strictObject({ words: text }),
    ({ world }, { words }) => world.transcript.search(words),
  ),
  clearTranscript: operation('Forgets what the service saw.', nothing, ({ world }) => {
    world.transcript.clear()
    return { cleared: true }
  }),
}
