/**
 * Exports spans to a collector: OTLP 1.x over HTTP, in its JSON encoding. Why no library: README.md
 * beside.
 */
import { setTimeout as elapsed } from 'node:timers/promises'
import { Pool } from 'undici'
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

export interface SpanExporterParts {
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
export class SpanExporter implements AsyncDisposable {
  readonly #parts: SpanExporterParts
  readonly #path: string
  readonly #pool: Pool
  readonly #end = new AbortController()
  #waiting: TraceSpan[] = []
  #timer: NodeJS.Timeout | undefined
  #exporting: Promise<void> | null = null
  #isFailing = false

  constructor(parts: SpanExporterParts) {
    this.#parts = parts
    const { origin, pathname, search } = new URL(parts.url)
    this.#path = pathname + search
    this.#pool = new Pool(origin, { connections: 1 })
  }

  /** Queues a span that has ended; one too many is lost. */
  add(span: TraceSpan): void {
    if (this.#waiting.length >= WAITING || this.#end.signal.aborted) {
      return this.#parts.onOutcome('dropped', 1)
    }
    this.#waiting.push(span)
    // a collector that is away is not asked again for each span
    if (this.#waiting.length >= BATCH && !this.#isFailing) this.#export()
    else this.#timer ??= setTimeout(() => this.#export(), DELAY_MS).unref()
  }

  /** Exports what waits, within two seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#export()
    await Promise.race([this.#exporting, elapsed(LAST_MS, undefined, { ref: false })])
    this.#end.abort()
    await this.#exporting
    await this.#pool.destroy()
    const { length } = this.#waiting
    if (length > 0) this.#parts.onOutcome('dropped', length)
  }

  #export(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#exporting ??= this.#exportAll().finally(() => (this.#exporting = null))
  }

  async #exportAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#end.signal.aborted) {
      const batch = this.#waiting.splice(0, BATCH)
      const failure = await this.#post(batch)
      this.#parts.onOutcome(failure === null ? 'exported' : 'failed', batch.length)
      this.#report(failure)
      if (failure !== null) break
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#export(), DELAY_MS).unref()
  }

  /** @returns why it failed; null: the collector has the batch */
  async #post(batch: readonly TraceSpan[]) {
    const { timeoutMs, headers } = this.#parts
    const own = [['content-type', 'application/json']] as const
    const all = [...headers.map(([name, value]) => [name.toLowerCase(), value] as const), ...own]
    try {
      // no redirect is followed
      const { statusCode: status, body } = await this.#pool.request({
        method: 'POST',
        path: this.#path,
        headers: Object.fromEntries(all),
        body: this.#encode(batch),
        signal: AbortSignal.any([this.#end.signal, AbortSignal.timeout(timeoutMs)]),
      })
      await body.dump()
      return status >= 200 && status < 300 ? null : { status }
    } catch (error) {
      return { error }
    }
  }

  /** Logs the first failure, and the end of failures. */
  #report(failure: object | null): void {
    const { log } = this.#parts
    const wasFailing = this.#isFailing
    this.#isFailing = failure !== null
    if (failure !== null && !wasFailing)
      log.warn(failure, 'the collector accepts no spans: they are lost')
    if (failure === null && wasFailing) log.info('the collector accepts spans again')
  }

  #encode(batch: readonly TraceSpan[]): string {
    const { resource } = this.#parts
    const scopeSpans = [{ scope: { name: 'postern' }, spans: batch.map(encodeSpan) }]
    return JSON.stringify({
      resourceSpans: [{ resource: { attributes: encodeAttributes(resource) }, scopeSpans }],
    })
  }
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

function encodeAttributes(
  attributes: readonly (readonly [name: string, value: string | number | undefined])[],
): object[] {
  return attributes.flatMap(([key, value]) => {
    if (value === undefined) return []
    // 64-bit numbers are text in protobuf's JSON
    const isNumber = typeof value === 'number'
    return [{ key, value: isNumber ? { intValue: String(value) } : { stringValue: value } }]
  })
}

const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)
