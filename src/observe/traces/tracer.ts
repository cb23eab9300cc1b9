/**
 * Spans of work, nested by the asynchronous context. Loaded only where traces are exported: without,
 * there is no AsyncLocalStorage in the process.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

/** OTLP's numbers (`SpanKind`). */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const

/** What begins a span. */
interface SpanStart {
  name: string
  kind: (typeof SPAN_KIND)[keyof typeof SPAN_KIND]
  /** How long ago it began; 0 by default. */
  agoMs?: number
}

/** What a span shows once it has ended: names, numbers and codes, never a person's text. */
export interface SpanEnd {
  attributes: Readonly<Record<string, string | number | undefined>>
  /** Why it failed, any text; null where it did not. */
  code?: string | null
}

/** The caller's span (W3C Trace Context). */
export type TraceParent = Pick<TraceSpan, 'traceId' | 'spanId'> & { isSampled: boolean }

/** Digits at the end of a trace id that are random (W3C Trace Context Level 2, random-trace-id). */
const RANDOM_DIGITS = 14
/** An error code fit for a span: other texts may be anybody's. */
const CODE = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export class TraceSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId = randomBytes(8).toString('hex')
  /** Null: the trace begins with it, as far as is known. */
  readonly parentId: string | null
  /** Since the epoch, by the clock of its trace. */
  readonly startMs: number
  /** Null until it has ended. */
  endMs: number | null = null
  attributes: SpanEnd['attributes'] = {}
  code: string | null = null
  /** What `performance.now()` is added to: spans of a trace share one clock. */
  readonly #epochMs: number

  /** @param parent null: it begins a trace; a `TraceParent` is another program's span */
  constructor({ name, kind, agoMs = 0 }: SpanStart, parent: TraceSpan | TraceParent | null) {
    this.name = name
    this.kind = kind
    this.traceId = parent?.traceId ?? randomBytes(16).toString('hex')
    this.parentId = parent?.spanId ?? null
    this.#epochMs = parent instanceof TraceSpan ? parent.#epochMs : Date.now() - performance.now()
    this.startMs = this.#nowMs() - agoMs
  }

  end({ attributes, code = null }: SpanEnd): void {
    this.endMs = this.#nowMs()
    this.attributes = attributes
    this.code = code === null || CODE.test(code) ? code : 'other'
  }

  #nowMs(): number {
    return this.#epochMs + performance.now()
  }
}

/** The part of traces that is recorded, 0 to 1, and whether a caller's decision counts first. */
type Sampler = { ratio: number; followsParent: boolean }

/** Makes spans of the traces that are recorded. */
export type Tracer = ReturnType<typeof createTracer>

/** @param onEnded called with each span once it has ended */
export function createTracer(
  { ratio, followsParent }: Sampler,
  onEnded: (span: TraceSpan) => void,
) {
  const current = new AsyncLocalStorage<TraceSpan>()

  /** Begins the first span of a trace here. @returns null where the trace is not recorded */
  function begin(start: SpanStart, caller: TraceParent | null = null): TraceSpan | null {
    const span = new TraceSpan(start, caller)
    if (followsParent && caller !== null) return caller.isSampled ? span : null
    const random = Number.parseInt(span.traceId.slice(-RANDOM_DIGITS), 16)
    return random < ratio * 16 ** RANDOM_DIGITS ? span : null
  }

  /** Ends a span that was begun. */
  function end(span: TraceSpan, how: SpanEnd): void {
    span.end(how)
    onEnded(span)
  }

  /** Runs work whose spans are parts of a span. */
  const inside = <T>(span: TraceSpan, work: () => T): T => current.run(span, work)

  /**
   * Runs work in a span of the trace under way. Without one, or once the span that it would be a part
   * of has ended, the work runs without.
   * @param describe what the span shows; without a result where the work failed
   * @param o `beginsTrace`: without one it begins a trace
   */
  async function run<T>(
    { beginsTrace = false, ...start }: SpanStart & { beginsTrace?: boolean },
    work: () => Promise<T>,
    describe: (result?: T) => SpanEnd,
  ): Promise<T> {
    const parent = current.getStore()
    const isUnderWay = parent !== undefined && parent.endMs === null
    const alone = beginsTrace ? begin(start) : null
    const span = isUnderWay ? new TraceSpan(start, parent) : alone
    if (span === null) return await work()
    try {
      const result = await inside(span, work)
      end(span, describe(result))
      return result
    } catch (error) {
      end(span, { ...describe(), code: codeOf(error) })
      throw error
    }
  }

  return { begin, end, inside, run }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'other'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}
