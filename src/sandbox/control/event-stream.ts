import type { OutgoingHttpHeaders } from 'node:http'
import { pipeline } from 'node:stream/promises'
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

interface Followed<E extends LoggedEvent> {
  log: EventLog<E>
  /** An id; undefined: from now on. */
  after: number | undefined
  /** Ends the stream. */
  signal: AbortSignal
  isWanted: (event: E) => boolean
}

/** Answers with the events of a log as they happen, as `streamEvents` describes. */
export async function streamLog<E extends LoggedEvent>(
  reply: FastifyReply,
  followed: Followed<E>,
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  })
  raw.flushHeaders()
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': nothing happened\n\n')
  }, HEARTBEAT_MS)
  const onDrop = (): void => void setTimeout(() => raw.destroy(), DROPPED_MS).unref()
  // A write to a reader that is just gone fails.
  await pipeline(blocksOf(followed, onDrop), raw).catch(() => undefined)
  clearInterval(heartbeat)
}

/** The texts of the stream, each once the reader has read everything before it. */
async function* blocksOf<E extends LoggedEvent>(
  { log, after, signal, isWanted }: Followed<E>,
  onDrop: () => void,
): AsyncGenerator<string, void, void> {
  let { last: position, missed } = log.read(after ?? log.last, 0)
  if (missed > 0) yield `event: missed\ndata: ${JSON.stringify({ missed })}\n\n`
  while (!signal.aborted) {
    const page = log.read(position, PAGE_EVENTS)
    if (page.missed > 0) {
      onDrop()
      yield `: dropped, since you read too slowly and missed ${page.missed} events\n\n`
      return
    }
    const text = page.events.filter(isWanted).map(format).join('')
    if (text !== '') yield text
    position = page.last
    if (page.events.length === 0) await nextCall(log.onAppend, signal)
  }
}

const format = (event: LoggedEvent): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`
