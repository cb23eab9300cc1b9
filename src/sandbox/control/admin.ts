import { z } from 'zod'
import { FAULTS, type FaultName } from '../faults/table.ts'
import { toMishap } from '../seed/former-names.ts'
import { accountId, botId, chatId, count, flag, text } from './fields.ts'
import { definedFields, operation } from './operation.ts'
import { done, FailedStep, Now, RecordedCall } from './results.ts'

const nothing = z.strictObject({})
const left = z.int().describe('steps that are not due yet')
const names = Object.keys(FAULTS) as FaultName[]

/** A fault's name and options; see src/sandbox/faults/table.ts. */
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

/** The clock, the schedule, faults, and the transcript. */
export const ADMIN = {
  advance: operation(
    'Moves the clock forward. Whatever becomes due on the way happens at once.',
    z.strictObject({ ms: count }),
    Now,
    async ({ world, schedule }, { ms }) => {
      world.advance(ms)
      await schedule.caughtUp()
      return { now: world.clock.now() }
    },
  ),
  now: operation('Gives the time of the clock, in ms since 1970.', nothing, Now, ({ world }) => ({
    now: world.clock.now(),
  })),
  schedule: operation(
    'Gives how many steps of the seed’s schedule are left, and which failed.',
    nothing,
    z.object({ left, errors: z.array(FailedStep) }),
    ({ schedule }) => ({ left: schedule.left, errors: [...schedule.errors] }),
  ),
  story: operation(
    'Gives what `schedule` gives, by its former names.',
    nothing,
    z.object({
      left,
      mishaps: z.array(z.object({ atMs: z.int(), deed: z.string(), why: z.string() })),
    }),
    ({ schedule }) => ({
      left: schedule.left,
      mishaps: schedule.errors.map(toMishap),
    }),
  ),
  fault: operation(
    'Sets a fault by name. Gives its number.',
    FaultInput,
    z.object({ id: z.int().describe('for `clearFaults`') }),
    ({ world }, { name, ...options }) => ({ id: world.faults.set(name, definedFields(options)) }),
  ),
  clearFaults: operation(
    'Ends one fault by its number, or all.',
    z.strictObject({ id: z.int().optional() }),
    z.object({ cleared: done }),
    ({ world }, { id }) => {
      world.faults.clear(id)
      return { cleared: true } as const
    },
  ),
  transcript: operation(
    'Gives every call that the service received and every message that phones sent, after number ' +
      '`after`.',
    z.strictObject({ after: count.optional() }),
    z.array(RecordedCall),
    ({ world }, { after }) => world.transcript.list(after),
  ),
  search: operation(
    'Gives the calls that contain this text, as it is or encoded.',
    z.strictObject({ words: text }),
    z.array(RecordedCall),
    ({ world }, { words }) => world.transcript.search(words),
  ),
  clearTranscript: operation(
    'Empties the transcript.',
    nothing,
    z.object({ cleared: done }),
    ({ world }) => {
      world.transcript.clear()
      return { cleared: true } as const
    },
  ),
}
