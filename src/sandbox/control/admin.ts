import { z } from 'zod'
import { EVENT_KINDS, SandboxEvent } from '../events/event.ts'
import type { EventPage } from '../events/log.ts'
import { FaultInput, faultProblem, FaultStatus } from '../faults/table.ts'
import type { ClockMode } from '../clock.ts'
import { action, ControlError, definedFields, operation } from './operation.ts'
import { count, text } from './fields.ts'
import { Now, NumberedFailedStep, RecordedCall } from './results.ts'
import { GROWING, waitFor } from './waiting.ts'
import type { World } from '../world.ts'

const nothing = z.strictObject({})
const left = z.int().describe('steps that are not due yet')
/** The end of the year 9999; there are no dates far beyond. */
const LATEST_MS = Date.UTC(10_000, 0) - 1

/** What happened, the clock, the schedule, faults, and the transcript. */
export const ADMIN = {
  events: operation(
    'Gives what happened, oldest first, with ids above `after`; with `kinds` only those. `last` is ' +
      'the id to continue after; `missed` says how many older events are held no longer. ' +
      '`GET /events` streams the same.',
    z.strictObject({ kinds: z.array(z.enum(EVENT_KINDS)).optional(), ...GROWING }),
    z.object({
      events: z.array(SandboxEvent),
      last: z.int().describe('the id to continue after'),
      missed: z.int().describe('how many older events are held no longer'),
    }),
    async (context, { kinds, after = 0, wait }) => {
      const log = context.events
      const found: EventPage = { events: [], last: after, missed: 0 }
      const look = (): boolean => {
        const { events, last, missed } = log.read(found.last)
        found.events.push(...events.filter(({ kind }) => kinds?.includes(kind) ?? true))
        found.last = last
        found.missed += missed
        return found.events.length > 0
      }
      look()
      await waitFor(context, wait, look, log.onAppend)
      return found
    },
  ),
  advance: operation(
    'Moves the clock forward. Whatever falls due on the way happens at its time, one after the ' +
      'other; deliveries under way are answered before the clock moves on.',
    z.strictObject({ ms: count }),
    Now,
    async ({ world }, { ms }) => {
      if (world.clock.now() + ms > LATEST_MS) {
        throw new ControlError('ms: the clock does not go beyond the year 9999')
      }
      await world.advance(ms)
      return clockOf(world)
    },
  ),
  setClock: operation(
    'Stops the clock (`still`: only `advance` moves it), or lets it run on from the time it has.',
    z.strictObject({ mode: z.enum(['running', 'still']) }),
    Now,
    ({ world }, { mode }) => {
      world.setClockMode(mode)
      return clockOf(world)
    },
  ),
  now: operation(
    'Gives the time of the clock, in ms since 1970, and whether it runs.',
    nothing,
    Now,
    ({ world }) => clockOf(world),
  ),
  schedule: operation(
    'Gives how many steps of the seed’s schedule are left, and which failed. A `wait` also ends when ' +
      'nothing is left.',
    z.strictObject(GROWING),
    z.object({ left, errors: z.array(NumberedFailedStep) }),
    async (context, { after = 0, wait }) => {
      const { schedule } = context
      await waitFor(context, wait, () => schedule.left === 0 || schedule.errors.length > after)
      return { left: schedule.left, errors: schedule.errors.slice(after) }
    },
  ),
  fault: operation(
    'Sets a fault by name. Gives its number.',
    FaultInput,
    z.object({ id: z.int().describe('for `clearFaults`') }),
    ({ world }, { name, ...options }) => {
      const how = definedFields(options)
      const problem = faultProblem(name, how)
      if (problem !== null) throw new ControlError(problem)
      return { id: world.faults.set(name, how) }
    },
  ),
  clearFaults: action(
    'Ends one fault by its number, or all.',
    z.strictObject({ id: z.int().optional() }),
    { cleared: true },
    ({ world }, { id }) => world.faults.clear(id),
  ),
  faults: operation(
    'Gives the faults that are set, how often each struck, and how often it still can.',
    nothing,
    z.array(FaultStatus),
    ({ world }) => world.faults.status(),
  ),
  transcript: operation(
    'Gives every call that the service received and every message that phones sent, after number ' +
      '`after`. A call in progress has the status 0; `wait` waits for one that is answered.',
    z.strictObject(GROWING),
    z.array(RecordedCall),
    async (context, { after = 0, wait }) => {
      const { transcript } = context.world
      await waitFor(context, wait, () => transcript.hasAnswered(after))
      return transcript.list(after)
    },
  ),
  search: operation(
    'Gives the calls that contain this text, as it is or encoded.',
    z.strictObject({ words: text }),
    z.array(RecordedCall),
    ({ world }, { words }) => world.transcript.search(words),
  ),
  clearTranscript: action('Empties the transcript.', nothing, { cleared: true }, ({ world }) =>
    world.transcript.clear(),
  ),
}

const clockOf = ({ clock }: World): { now: number; mode: ClockMode } => ({
  now: clock.now(),
  mode: clock.mode,
})
