import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { METRICS } from './metric-catalogue.ts'
import type { LabelsOf, MetricDefinition, MetricName, MetricOf } from './metric-catalogue.ts'
import { processMetrics } from './process-metrics.ts'

/** The label that distinguishes several bots. */
const BOT_LABEL = 'bot'

/** One value that a metric shows, with its labels. */
export type Sample<Name extends MetricName> = [labels: LabelsOf<Name>, value: number]

/** Gauges without labels. */
type BareGauge = {
  [N in MetricOf<'gauge'>]: keyof LabelsOf<N> extends never ? N : never
}[MetricOf<'gauge'>]

const NAMES = Object.keys(METRICS) as MetricName[]

type Labels = Record<string, string>
type Read = () => [labels: Labels, value: number][]

/** Every metric of the catalogue and those of the process, as shown by `/metrics`. */
export class MetricRegistry {
  readonly #registry = new Registry()
  /** By metric, the reader of its samples for each bot. */
  readonly #reads = new Map<MetricName, Map<string, Read>>()
  readonly #process = processMetrics()
  /** Whether metrics of a bot have a label that names it. */
  readonly isOfSeveral: boolean

  /** @param o `isOfSeveral`: the label `bot` distinguishes several bots */
  constructor({ isOfSeveral }: { isOfSeveral: boolean } = { isOfSeveral: false }) {
    this.isOfSeveral = isOfSeveral
    for (const name of NAMES) this.#register(name, METRICS[name])
  }

  /** There is work: how late the event loop is counts for some seconds. */
  noteWork(): void {
    this.#process.delay.watch()
  }

  /** MIME type of `text()`. */
  get contentType(): string {
    return this.#registry.contentType
  }

  /** Every metric in Prometheus's text form. */
  async text(): Promise<string> {
    return `${await this.#process.registry.metrics()}\n${await this.#registry.metrics()}`
  }

  /** A metric, which has the methods of its type alone. */
  of(name: MetricName): Gauge<string> & Counter<string> & Histogram<string> {
    return this.#registry.getSingleMetric(name) as never
  }

  /** The labels of a metric for a bot: as they are given, where it is of the process or of the one. */
  labelsFor(name: MetricName, bot: string, labels: Labels): Labels {
    return this.#isLabelled(METRICS[name]) ? { ...labels, [BOT_LABEL]: bot } : labels
  }

  /** Shows the samples of `read` for a bot, which runs at each scrape. */
  show(name: MetricName, bot: string, read: Read): void {
    const reads = this.#reads.get(name) ?? new Map<string, Read>()
    this.#reads.set(name, reads.set(bot, read))
  }

  /** Forgets all that is of a bot. */
  async forget(bot: string): Promise<void> {
    for (const reads of this.#reads.values()) reads.delete(bot)
    for (const name of NAMES) {
      const metric = this.of(name)
      const { values } = await metric.get()
      for (const { labels } of values) {
        const { le: _bucket, ...own } = labels as Labels
        if (own[BOT_LABEL] === bot) metric.remove(own)
      }
    }
  }

  #isLabelled({ isOfProcess }: MetricDefinition): boolean {
    return this.isOfSeveral && isOfProcess !== true
  }

  #collect(name: MetricName): void {
    const reads = this.#reads.get(name)
    if (reads === undefined) return
    const metric = this.of(name)
    const samples = [...reads.values()].flatMap((read) => read())
    metric.reset()
    // only one without labels shows a value after its reset
    const { type, labels } = METRICS[name]
    const isBare = Object.keys(labels).length === 0 && !this.#isLabelled(METRICS[name])
    if (type === 'gauge' && samples.length === 0 && isBare) metric.remove()
    // several bots show one value of the process
    for (const [given, value] of samples) metric[type === 'gauge' ? 'set' : 'inc'](given, value)
  }

  #register(name: MetricName, definition: MetricDefinition): void {
    const { type, help, labels, buckets } = definition
    const labelNames = [
      ...Object.keys(labels),
      ...(this.#isLabelled(definition) ? [BOT_LABEL] : []),
    ]
    const common = { name, help, labelNames, registers: [this.#registry] }
    const collect = (): void => this.#collect(name)
    if (type === 'gauge') void new Gauge({ ...common, collect })
    else if (type === 'counter') void new Counter({ ...common, collect })
    else void new Histogram({ ...common, buckets: [...(buckets ?? [])] })
  }
}

/**
 * The metrics of one bot, or of the process. Values are in the unit that a metric's name ends with.
 */
export class Metrics {
  readonly registry: MetricRegistry
  readonly #bot: string

  /**
   * @param registry where they are; a registry of its own by default
   * @param bot the bot of the metrics, where there are several; empty for those of the process
   */
  constructor(registry = new MetricRegistry(), bot = '') {
    this.registry = registry
    this.#bot = bot
    if (registry.isOfSeveral && bot === '') return
    for (const name of NAMES) this.#startAtZero(name, METRICS[name])
  }

  /** Adds to a counter. */
  count<Name extends MetricOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by = 1): void {
    this.registry.of(name).inc(this.#of(name, labels), by)
  }

  /** Puts a value into a histogram. */
  observe<Name extends MetricOf<'histogram'>>(
    name: Name,
    labels: LabelsOf<Name>,
    value: number,
  ): void {
    this.registry.of(name).observe(this.#of(name, labels), value)
  }

  /** Sets a gauge. */
  set<Name extends MetricOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void {
    this.registry.of(name).set(this.#of(name, labels), value)
  }

  /**
   * Shows the samples of `read`, which runs at each scrape.
   * @param read its samples; a metric without any is absent
   */
  show<Name extends MetricOf<'gauge' | 'counter'>>(name: Name, read: () => Sample<Name>[]): void {
    this.registry.show(name, this.#bot, () =>
      read().map(([labels, value]) => [this.#of(name, labels), value]),
    )
  }

  /** Shows a gauge without labels; null: it is absent. */
  showValue(name: BareGauge, read: () => number | null): void {
    this.registry.show(name, this.#bot, () => {
      const value = read()
      return value === null ? [] : [[this.#of(name, {}), value]]
    })
  }

  #of(name: MetricName, labels: Labels): Labels {
    return this.registry.labelsFor(name, this.#bot, labels)
  }

  #startAtZero(name: MetricName, { type, labels, startsAtZero }: MetricDefinition): void {
    if (type === 'counter' && Object.keys(labels).length === 0) {
      this.registry.of(name).inc(this.#of(name, {}), 0)
    }
    if (startsAtZero !== true) return
    for (const [label, values] of Object.entries(labels)) {
      for (const value of values ?? []) {
        this.registry.of(name).inc(this.#of(name, { [label]: value }), 0)
      }
    }
  }
}
