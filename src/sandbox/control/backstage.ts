import { FAULTS, type FaultName } from '../faults/table.ts'
import { boolean, integer, object, oneOf, string } from './schema.ts'
import { ControlError, operation } from './operation.ts'

const names = Object.keys(FAULTS) as FaultName[]

/** Time, faults, and what the service saw. */
export const BACKSTAGE = {
  /** Moves the clock forward; what falls due on the way happens at once. */
  advance: operation(object({ ms: integer }), ({ world }, { ms }) => {
    if (ms < 0) throw new ControlError('the clock moves forward only')
    world.clock.advance(ms)
    return { now: world.clock.now() }
  }),
  now: operation(object({}), ({ world }) => ({ now: world.clock.now() })),
  /** Sets a fault by name; see src/sandbox/faults/table.ts. */
  fault: operation(
    object(
      { name: oneOf(names) },
      {
        route: string,
        botId: integer,
        times: integer,
        after: integer,
        oneIn: integer,
        seed: integer,
        delayMs: integer,
        bytes: integer,
        status: integer,
        code: string,
        retryAfter: integer,
        retryAfterHeader: string,
        expected: oneOf(['text', 'armored']),
        body: string,
        location: string,
        chatId: integer,
        mode: oneOf(['open', 'protected']),
        historyVisible: boolean,
        kind: string,
        userId: integer,
        publicKey: string,
        fingerprint: string,
      },
    ),
    ({ world }, { name, ...options }) => {
      const given = Object.entries(options).filter(([, value]) => value !== undefined)
      return { id: world.faults.set(name, Object.fromEntries(given)) }
    },
  ),
  /** Ends one fault, or all. */
  clearFaults: operation(object({}, { id: integer }), ({ world }, { id }) => {
    world.faults.clear(id)
    return { cleared: true }
  }),
  /** Every call the service received, and what phones handed in, after number `after`. */
  transcript: operation(object({}, { after: integer }), ({ world }, { after }) =>
    world.transcript.list(after),
  ),
  /** The calls in which these words stand anywhere, in any spelling that is looked for. */
  search: operation(object({ words: string }), ({ world }, { words }) =>
    world.transcript.search(words),
  ),
  clearTranscript: operation(object({}), ({ world }) => {
    world.transcript.clear()
    return { cleared: true }
  }),
}
