import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { EventLoopDelay } from './event-loop-delay.ts'
import {
  METRICS,
  type LabelsOf,
  type MetricDefinition,
  type MetricName,
  type MetricOf,
} from './metric-catalogue.ts'

const PREFIX = 'postern_'
/** The longest time that a timer takes: `EventLoopDelay` measures in its place. */
const NEVER_MS = 2 ** 31 - 1
/** How often the share of time at work is taken; each look wakes an idle process. */
const UTILIZATION_MS = 10_000

/** One value that a metric shows, with its labels. */
export type Sample<Name extends MetricName> = [labels: LabelsOf<Name>, value: number]

/**
 * The metrics of the catalogue, in a registry of their own, together with those of the process.
 * Values are in the unit that a metric's name ends with.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #counters = new Map<MetricName, Counter<string>>()
  readonly #gauges = new Map<MetricName, Gauge<string>>()
  readonly #histograms = new Map<MetricName, Histogram<string>>()
  readonly #reads = new Map<MetricName, () => void>()
  readonly #delay: EventLoopDelay

  constructor() {
    collectDefaultMetrics({
      register: this.#registry,
      prefix: PREFIX,
      eventLoopMonitoringPrecision: NEVER_MS,
      eventLoopUtilizationTimeout: UTILIZATION_MS,
    })
    this.#delay = new EventLoopDelay(this.#registry, PREFIX)
    for (const name of Object.keys(METRICS) as MetricName[]) this.#register(name, METRICS[name])
  }

  /** There is work: how late the event loop is counts for some seconds. */
  noteWork(): void {
    this.#delay.watch()
  }

  /** MIME type of `text()`. */
  get contentType(): string {
    return this.#registry.contentType
  }

  /** Every metric in Prometheus's text form. */
  async text(): Promise<string> {
    return await this.#registry.metrics()
  }

  /** Names of all metrics, those of the process among them. */
  get names(): string[] {
    return this.#registry.getMetricsAsArray().map(({ name }) => name)
  }

  /** Adds to a counter. */
  count<Name extends MetricOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by = 1): void {
    this.#counters.get(name)?.inc(labels, by)
  }

  /** Puts a value into a histogram. */
  observe<Name extends MetricOf<'histogram'>>(
    name: Name,
    labels: LabelsOf<Name>,
    value: number,
  ): void {
    this.#histograms.get(name)?.observe(labels, value)
  }

  /** Sets a gauge. */
  set<Name extends MetricOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void {
    this.#gauges.get(name)?.set(labels, value)
  }

  /**
   * Shows what `read` returns each time that somebody looks, and nothing else.
   * @param read its samples; a metric without any is absent
   */
  show<Name extends MetricOf<'gauge' | 'counter'>>(name: Name, read: () => Sample<Name>[]): void {
    const gauge = this.#gauges.get(name)
    const counter = this.#counters.get(name)
    this.#reads.set(name, () => {
      const samples = read()
      gauge?.reset()
      counter?.reset()
      // only one without labels shows a value after its reset
      if (samples.length === 0 && Object.keys(METRICS[name].labels).length === 0) gauge?.remove()
      for (const [labels, value] of samples) {
        gauge?.set(labels, value)
        counter?.inc(labels, value)
      }
    })
  }

  #register(name: MetricName, { type, help, labels, buckets, startsAtZero }: MetricDefinition) {
    const common = { name, help, labelNames: Object.keys(labels), registers: [this.#registry] }
    const collect = (): void => this.#reads.get(name)?.()
    if (type === 'gauge') this.#gauges.set(name, new Gauge({ ...common, collect }))
    else if (type === 'histogram') {
      this.#histograms.set(name, new Histogram({ ...common, buckets: [...(buckets ?? [])] }))
    } else {
      const counter = new Counter({ ...common, collect })
      this.#counters.set(name, counter)
      if (startsAtZero !== true) return
      for (const [label, values] of Object.entries(labels)) {
        for (const value of values ?? []) counter.inc({ [label]: value }, 0)
      }
    }
  }
}
