import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { EVENT_KINDS, type SandboxEvent } from '../events/event.ts'
import type { EventLog, LoggedEvent } from '../events/log.ts'
import { hangUpSignal } from '../http/response.ts'
import { nextCall } from '../../util/listeners.ts'
import { readInput } from './input.ts'
import type { ControlContext } from './operation.ts'

/** How many events are written at once. */
const PAGE_EVENTS = 100
const HEARTBEAT_MS = 15_000
/** How long a reader that is dropped has to read why. */
const DROPPED_MS = 10_000

/** A whole number in a query or header. */
export const digits = (problem: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, problem)
    .transform(Number)
const Id = digits('expected the id of an event')
const KINDS = `expected some of ${EVENT_KINDS.join(', ')}, separated by commas`
const Kinds = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(z.enum(EVENT_KINDS, KINDS)))
const Query = z.strictObject({ after: Id.optional(), kinds: Kinds.optional() })
const Header = z.strictObject({ 'Last-Event-ID': Id.optional() })

/**
 * `GET /events`: what happens as server-sent events, from now on, or after the id in `Last-Event-ID`
 * or `?after=`; with `?kinds=` only these, separated by commas. Each has its `id`, its kind as
 * `event`, and itself as `data`. Events that are held no longer are announced by one `missed` event
 * without an id. A reader so slow that it misses events on the way is dropped.
 * @throws ControlError for a query or header that is wrong
 */
export async function streamEvents(
  { events: log, host }: ControlContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const lastId = lastEventId(request)
  const { after, kinds } = readInput('GET /events', Query, request.query)
  const signal = AbortSignal.any([host.ended, hangUpSignal(reply)])
  const isWanted = ({ kind }: SandboxEvent): boolean => kinds?.includes(kind) ?? true
  await streamLog(reply, { log, after: lastId ?? after, signal, isWanted })
}

/** The id after which a reader goes on. @throws ControlError when it is none */
export function lastEventId({ headers }: FastifyRequest): number | undefined {
  const given = { 'Last-Event-ID': headers['last-event-id'] }
  return readInput('GET /events', Header, given)['Last-Event-ID']
}

/**
 * Answers with the events of a log as they happen, as `streamEvents` describes.
 * @param o `after` an id; undefined: from now on. `signal` ends the stream
 */
export async function streamLog<E extends LoggedEvent>(
  reply: FastifyReply,
  o: {
    log: EventLog<E>
    after: number | undefined
    signal: AbortSignal
    isWanted: (event: E) => boolean
  },
): Promise<void> {
  const { log, after, signal, isWanted } = o
  reply.hijack()
  const { raw } = reply
  // A write to a reader that is just gone fails; the signal ends the stream.
  raw.on('error', () => undefined)
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  })
  raw.flushHeaders()
  const start = log.read(after ?? log.last, 0)
  let position = start.last
  if (start.missed > 0) {
    raw.write(`event: missed\ndata: ${JSON.stringify({ missed: start.missed })}\n\n`)
  }
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': nothing happened\n\n')
  }, HEARTBEAT_MS)
  const onChange = (listener: () => void): (() => void) => {
    const unsubscribe = log.onAppend(listener)
    raw.on('drain', listener)
    return () => {
      unsubscribe()
      raw.off('drain', listener)
    }
  }
  try {
    while (!signal.aborted) {
      // Nothing more is written until the reader has read everything.
      const page = log.read(position, raw.writableNeedDrain ? 0 : PAGE_EVENTS)
      if (page.missed > 0) {
        raw.end(`: dropped, since you read too slowly and missed ${page.missed} events\n\n`)
        setTimeout(() => raw.destroy(), DROPPED_MS).unref()
        return
      }
      const text = page.events.filter(isWanted).map(format).join('')
      if (text !== '') {
        heartbeat.refresh()
        raw.write(text)
      }
      position = page.last
      if (page.events.length === 0) await nextCall(onChange, signal)
    }
  } finally {
    clearInterval(heartbeat)
    raw.end()
  }
}

const format = (event: LoggedEvent): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`
