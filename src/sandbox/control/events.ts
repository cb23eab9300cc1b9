import { z } from 'zod'
import { EVENT_KINDS, SandboxEvent } from '../events/event.ts'
import type { EventPage } from '../events/log.ts'
import { operation } from './operation.ts'
import { GROWING, waitFor } from './waiting.ts'

/** What happened in the sandbox. */
export const EVENTS = {
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
}
