import type { ControlContext } from '../control/operation.ts'
import type { SandboxEvent } from '../events/event.ts'
import { EventLog } from '../events/log.ts'
import type { BotTraffic } from './bot-traffic.ts'

/** What the page follows: what happens in the sandbox, and that the bot and its sidecar spoke. */
export type PageEvent =
  SandboxEvent | { kind: 'traffic'; id: number; at: number; /** Of the exchange. */ n: number }

/** How many events are held for a page that lost its connection. */
const HELD_EVENTS = 2000

/**
 * Both in one log, under ids of its own, so that a page needs one connection.
 * @param traffic null when no sidecar runs in this process
 * @param closing aborted when the page ends
 */
export function createPageLog(
  { events: world, host }: Pick<ControlContext, 'events' | 'host'>,
  traffic: BotTraffic | null,
  closing: AbortSignal,
) {
  const log = new EventLog<PageEvent>(HELD_EVENTS)
  let position = world.last
  const stopFollowing = world.onAppend(() => {
    const { events, last } = world.read(position)
    position = last
    for (const { id: _, at, ...body } of events) log.append(at, body)
  })
  const stopRecording = traffic?.onRecord(({ at, n }) => log.append(at, { kind: 'traffic', n }))
  AbortSignal.any([host.ended, closing]).addEventListener('abort', () => {
    stopFollowing()
    stopRecording?.()
  })
  return log
}
