/**
 * The spans of a bot: of requests at its door, of polls and deliveries, and of the parts that work for
 * them. Loaded where traces are exported: the calls that a part offers as `traced` are then replaced by
 * ones with a span around each.
 */
import type { Settings } from '../../config/settings.ts'
import { pairsOf, type TraceTarget } from '../../config/traces.ts'
import type { BotDoorParts, DoorRoute } from '../../http/server.ts'
import { traceParentOf } from '../../http/request-log.ts'
import { Guard } from '../../kernel/index.ts'
import { Publication } from '../../keys/publication.ts'
import { idHasher } from '../../logger.ts'
import { createSpanExporter } from '../../observe/traces/span-exporter.ts'
import { createTracer, SPAN_KIND } from '../../observe/traces/tracer.ts'
import type { SpanEnd, Tracer, TraceSpan } from '../../observe/traces/tracer.ts'
import { TRACED_OF_ENGINE } from '../../openpgp/index.ts'
import { UpstreamClient, type Answer } from '../../service/client.ts'
import { Directory } from '../../service/lookups/directory.ts'
import { TRACED_OF_STORE } from '../../store/store.ts'
import { Incoming } from '../../translate/incoming.ts'
import { endpointOf } from '../../service/path.ts'
import type { Core } from '../core.ts'
import type { BotOptions, Link } from '../link.ts'
import type { Updates } from '../updates.ts'

type Attributes = SpanEnd['attributes']
type AsyncMethod = (...args: never[]) => Promise<unknown>
/** By call, what its span shows; without a result where the call failed. */
type CallDescriptions<Part, Name extends keyof Part> = {
  [Call in Name]?: Part[Call] extends (...args: infer Args) => Promise<infer Result>
    ? (args: Args, result?: Result) => SpanEnd
    : never
}
type SpanOf = Parameters<Tracer['run']>[0]

const { internal, server, client } = SPAN_KIND

/** Shows an id in a span; undefined leaves it out. */
type ShowId = (id: number) => string | undefined

/**
 * Makes spans of a bot's parts from now on, and exports them.
 * @returns disposing it exports the last ones
 */
export function traceBot(
  { url, timeoutMs, resource, sampler, showsHeaders }: TraceTarget,
  { settings, secrets, log, name }: BotOptions,
  parts: { link: Pick<Link, 'upstream' | 'metrics'>; core: Core; updates: Updates },
) {
  if (showsHeaders) log.warn(CLEAR_HEADERS)
  const { metrics } = parts.link
  const exporter = createSpanExporter({
    url,
    timeoutMs,
    headers: pairsOf(secrets.traceHeaders?.reveal() ?? '') ?? [],
    resource: name === undefined ? resource : [...resource, ['postern.bot', name]],
    log,
    onOutcome: (outcome, count) => metrics.count('postern_trace_spans_total', { outcome }, count),
  })
  const tracer = createTracer(sampler, (span) => exporter.add(span))
  const showId = showIdBy(settings.traces.ids, secrets.botToken.reveal())
  traceParts(tracer, parts, showId)
  traceDeliveries(tracer, parts.updates, showId)
  return {
    /** Adds a span of each request. */
    ofDoor: (door: BotDoorParts): BotDoorParts => traceDoor(tracer, door),
    [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose](),
  }
}

const CLEAR_HEADERS =
  'OTEL_EXPORTER_OTLP_HEADERS go to the collector over plain http, where whoever is on the way reads them; use https'

/** @param key of the hashes: that of the log, so that they are the same as there */
function showIdBy(ids: Settings['traces']['ids'], key: string): ShowId {
  if (ids === 'none') return () => undefined
  return ids === 'plain' ? String : idHasher(key)
}

/**
 * Replaces methods of a part: each call runs in a span, and its attributes name the method.
 * @param traced the calls that the part's own file offers for it
 */
function follow<Part extends object, Name extends keyof Part>(
  part: Part,
  traced: readonly Name[],
  { tracer, ...span }: SpanOf & { tracer: Tracer },
  descriptions: CallDescriptions<Part, Name>,
): void {
  for (const name of traced) {
    const describe = descriptions[name]
    if (describe === undefined) continue
    const method = Reflect.get(part, name) as AsyncMethod
    const run = (...args: never[]): Promise<unknown> =>
      tracer.run(
        span,
        () => Reflect.apply(method, part, args),
        (result) => {
          const { attributes, code = null } = describe(args, result)
          return { attributes: { 'postern.operation': String(name), ...attributes }, code }
        },
      )
    Reflect.set(part, name, run)
  }
}

function traceParts(
  tracer: Tracer,
  { link: { upstream }, core }: { link: Pick<Link, 'upstream'>; core: Core },
  showId: ShowId,
): void {
  const { guard, publication, engine, store, known, incoming } = core
  const inside = (name: string) => ({ tracer, name, kind: internal })
  const outside = (name: string) => ({ tracer, name, kind: client })
  const first = (name: string, kind: SpanOf['kind']) => ({ tracer, name, kind, beginsTrace: true })
  const nothing = (): SpanEnd => ({ attributes: {} })
  const inChat = (chatId: number, more: Attributes = {}): SpanEnd => ({
    attributes: { 'postern.chat_id': showId(chatId), ...more },
  })
  follow(guard, Guard.traced, inside('guard'), {
    rule: ([chatId], rule) => inChat(chatId, { 'postern.body': rule?.body }),
  })
  follow(known.directory, Directory.traced, inside('keys'), {
    keyList: ([chatId], list) => inChat(chatId, { 'postern.people': list?.people.length }),
    signer: ([, chatId]) => inChat(chatId),
  })
  if (publication !== null)
    follow(publication, Publication.traced, inside('keys'), { enter: nothing })
  follow(engine, TRACED_OF_ENGINE, inside('seal'), {
    sealKnown: ([{ certificates }]) => ({
      attributes: { 'postern.recipients': certificates.length },
    }),
  })
  follow(store, TRACED_OF_STORE, inside('store'), {
    read: nothing,
    write: nothing,
    note: nothing,
    // alone in a store there is nothing to ask
    ...(store.isShared && { fresh: nothing }),
  })
  follow(upstream, UpstreamClient.traced, outside('upstream'), {
    ask: ([request]) => ({ attributes: describeCall(request) }),
    relay: ([request], answer) => answered(answer, describeCall(request)),
    send: (_, answer) => answered(answer),
    edit: (_, answer) => answered(answer),
    media: nothing,
  })
  follow(upstream, UpstreamClient.traced, first('poll', client), {
    poll: (_, answer) => answered(answer),
  })
  if (incoming === null) return
  follow(incoming, Incoming.traced, first('open', internal), {
    open: ([heads], opened) => ({
      attributes: { 'postern.updates': heads.length, 'postern.delivered': opened?.updates.length },
    }),
  })
}

/** A call to the service, without the ids in its path. */
function describeCall({ method, path }: { method: string; path: string }): Attributes {
  const route = endpointOf(method, path)?.path ?? 'other'
  return { 'http.request.method': method, 'http.route': route }
}

/** What the span of a call to the service shows of its answer. */
function answered(answer: Answer | undefined, attributes: Attributes = {}): SpanEnd {
  if (answer === undefined) return { attributes }
  const { status, envelope } = answer
  return {
    attributes: { ...attributes, 'http.response.status_code': status },
    code: envelope.ok ? null : envelope.error.code,
  }
}

/** The door with a span of each request that it admits, which continues the caller's trace. */
function traceDoor(tracer: Tracer, door: BotDoorParts): BotDoorParts {
  const spans = new WeakMap<object, TraceSpan>()
  const route: DoorRoute = (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      const caller = traceParentOf(request.headers)
      const span = tracer.begin({ name: 'door', kind: server }, caller)
      if (span === null) return done()
      spans.set(request, span)
      request.traceId = span.traceId
      reply.raw.once('close', () => {
        const { method, routeOptions, id, client: by, failedWith } = request
        const status = reply.raw.writableFinished ? reply.statusCode : 0
        const attributes = {
          'http.request.method': method,
          'http.route': routeOptions.url ?? 'none',
          'http.response.status_code': status,
          'postern.request_id': id,
          'postern.client': by?.name,
        }
        tracer.end(span, { attributes, code: failedWith ?? (status === 0 ? 'aborted' : null) })
      })
      done()
    })
    // what reads the body of a request runs outside of what `onRequest` began
    app.addHook('preValidation', (request, _reply, done) => {
      const span = spans.get(request)
      if (span === undefined) done()
      else tracer.inside(span, done)
    })
  }
  return { ...door, outside: [route, ...door.outside] }
}

function traceDeliveries(tracer: Tracer, updates: Updates, showId: ShowId): void {
  const record = (
    o: { updateId: number; ms: number; failures: number },
    code: string | null,
  ): void => {
    const span = tracer.begin({ name: 'deliver', kind: client, agoMs: o.ms })
    if (span === null) return
    const attributes = { 'postern.update_id': showId(o.updateId), 'postern.failures': o.failures }
    tracer.end(span, { attributes, code })
  }
  updates.onDelivered((one) => record({ ...one, failures: 0 }, null))
  updates.onDeliveryFailed((one) => record(one, one.failure.kind))
  updates.onConsumerFailed((one) => record(one, one.failure.kind))
}
