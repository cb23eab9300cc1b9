/**
 * Exports spans to a collector: OTLP 1.x over HTTP, in its JSON encoding. Why no library: README.md
 * beside.
 */
import { setTimeout as elapsed } from 'node:timers/promises'
import { buildConnector, Pool } from 'undici'
import { readingPastContinue } from '../../util/past-continue.ts'
import type { Log } from '../../logger.ts'
import type { TraceSpan } from './tracer.ts'

/** OpenTelemetry's defaults for its batches (`OTEL_BSP_*`). */
const WAITING = 2048
const BATCH = 512
const DELAY_MS = 5000
/** How long stopping waits for the last spans. */
const LAST_MS = 2000

/** Exported, refused or not reached by the collector, or one too many for the queue. */
type SpanOutcome = 'exported' | 'failed' | 'dropped'

interface SpanExporterParts {
  url: string
  timeoutMs: number
  /** May hold secrets. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Attributes of the process. */
  resource: readonly (readonly [name: string, value: string])[]
  log: Log
  /** Called with what became of so many spans. */
  onOutcome: (outcome: SpanOutcome, count: number) => void
}

/** Exports a batch after five seconds, or once it is full, one at a time; nothing waits for it. */
export function createSpanExporter({ log, onOutcome, ...to }: SpanExporterParts) {
  const { origin, pathname, search } = new URL(to.url)
  const connect = readingPastContinue(buildConnector({ allowH2: false }))
  const pool = new Pool(origin, { connections: 1, connect })
  const end = new AbortController()
  const waiting: TraceSpan[] = []
  let timer: NodeJS.Timeout | undefined
  let exporting: Promise<void> | null = null
  let isFailing = false

  const exportLater = (): void => void (timer ??= setTimeout(exportNow, DELAY_MS).unref())

  const exportNow = (): void => {
    clearTimeout(timer)
    timer = undefined
    exporting ??= exportAll().finally(() => (exporting = null))
  }

  const exportAll = async (): Promise<void> => {
    while (waiting.length > 0 && !end.signal.aborted) {
      const batch = waiting.splice(0, BATCH)
      const failure = await post(batch)
      onOutcome(failure === null ? 'exported' : 'failed', batch.length)
      report(failure)
      if (failure !== null) break
    }
    if (waiting.length > 0) exportLater()
  }

  /** @returns why it failed; null: the collector has the batch */
  const post = async (batch: readonly TraceSpan[]) => {
    const own = [['content-type', 'application/json']] as const
    const all = [...to.headers.map(([name, value]) => [name.toLowerCase(), value] as const), ...own]
    try {
      // no redirect is followed
      const { statusCode: status, body } = await pool.request({
        method: 'POST',
        path: pathname + search,
        headers: Object.fromEntries(all),
        body: encode(to.resource, batch),
        signal: AbortSignal.any([end.signal, AbortSignal.timeout(to.timeoutMs)]),
      })
      await body.dump()
      return status >= 200 && status < 300 ? null : { status }
    } catch (error) {
      return { error }
    }
  }

  /** Logs the first failure, and the end of failures. */
  const report = (failure: object | null): void => {
    const wasFailing = isFailing
    isFailing = failure !== null
    if (failure !== null && !wasFailing)
      log.warn(failure, 'the collector accepts no spans: they are lost')
    if (failure === null && wasFailing) log.info('the collector accepts spans again')
  }

  return {
    /** Queues a span that has ended; one too many is lost. */
    add: (span: TraceSpan): void => {
      if (waiting.length >= WAITING || end.signal.aborted) return onOutcome('dropped', 1)
      waiting.push(span)
      // a collector that is away is not asked again for each span
      if (waiting.length >= BATCH && !isFailing) exportNow()
      else exportLater()
    },

    /** Exports what waits, within two seconds. */
    [Symbol.asyncDispose]: async (): Promise<void> => {
      exportNow()
      await Promise.race([exporting, elapsed(LAST_MS, undefined, { ref: false })])
      end.abort()
      await exporting
      await pool.destroy()
      if (waiting.length > 0) onOutcome('dropped', waiting.length)
    },
  }
}

function encode(resource: SpanExporterParts['resource'], batch: readonly TraceSpan[]): string {
  const scopeSpans = [{ scope: { name: 'postern' }, spans: batch.map(encodeSpan) }]
  return JSON.stringify({
    resourceSpans: [{ resource: { attributes: encodeAttributes(resource) }, scopeSpans }],
  })
}

function encodeSpan(span: TraceSpan): object {
  const { traceId, spanId, parentId, name, kind, startMs, endMs, attributes, code } = span
  const failed = code === null ? [] : ([['error.type', code]] as const)
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs ?? startMs),
    attributes: encodeAttributes([...Object.entries(attributes), ...failed]),
    // ERROR
    ...(code !== null && { status: { code: 2 } }),
  }
}

const encodeAttributes = (
  attributes: readonly (readonly [name: string, value: string | number | undefined])[],
): object[] =>
  attributes.flatMap(([key, value]) => {
    if (value === undefined) return []
    // 64-bit numbers are text in protobuf's JSON
    const isNumber = typeof value === 'number'
    return [{ key, value: isNumber ? { intValue: String(value) } : { stringValue: value } }]
  })

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)
