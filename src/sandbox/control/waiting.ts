import { z } from 'zod'
import { nextCall } from '../../util/listeners.ts'
import { count } from './fields.ts'
import type { ControlContext } from './operation.ts'

/** The longest time that a call waits, in ms of real time. */
const MAX_WAIT_MS = 60_000

/** The fields of an operation that lists what grows. */
export const GROWING = {
  after: count.optional().describe('only entries with greater numbers'),
  wait: z
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .optional()
    .describe('ms of real time to wait, while there are none, until there is one'),
}

/**
 * Waits until something is there, `waitMs` of real time have passed, the caller has hung up, or the
 * sandbox closes. Also a still clock does not hold it up.
 * @param onChange calls back whenever something may be there, until the function that it gives is
 *   called; every event of the world by default
 */
export async function waitFor(
  { world, hangUp }: Pick<ControlContext, 'world' | 'hangUp'>,
  waitMs: number | undefined,
  isThere: () => boolean,
  onChange: (listener: () => void) => () => void = world.onEvent,
): Promise<void> {
  if (waitMs === undefined || isThere()) return
  const signals = [AbortSignal.timeout(waitMs), world.closing.signal, hangUp]
  const signal = AbortSignal.any(signals.filter((one) => one !== undefined))
  while (!signal.aborted && !isThere()) await nextCall(onChange, signal)
}

/** Lists entries; while there are none, it waits as `waitFor` does. */
export async function waitForSome<T>(
  context: Pick<ControlContext, 'world' | 'hangUp'>,
  waitMs: number | undefined,
  list: () => T[],
): Promise<T[]> {
  await waitFor(context, waitMs, () => list().length > 0)
  return list()
}
