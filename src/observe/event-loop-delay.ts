import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from '@prometheus-io/client'

/** Interval of measurements. */
const RESOLUTION_MS = 20
/** A name of the histogram, or `p` and a percentile. */
const PARTS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const
/** How long measuring continues after the last work. */
const WATCHED_MS = 10_000

/**
 * The delay of the event loop, under the names that prom-client gives its own measurement. It is
 * measured only during work: a measurement of an idle loop would wake it fifty times a
 * second.
 */
export class EventLoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #timer: NodeJS.Timeout | undefined

  /** @param prefix of the names */
  constructor(registry: Registry, prefix: string) {
    const delay = this.#histogram
    for (const part of PARTS) {
      const name = `${prefix}nodejs_eventloop_lag_${part}_seconds`
      registry.removeSingleMetric(name)
      const gauge = new Gauge({
        name,
        help: `The ${part} of the recorded event loop delays.`,
        registers: [registry],
        collect: () => {
          const nanoseconds =
            part[0] === 'p' ? delay.percentile(Number(part.slice(1))) : delay[part as 'max']
          gauge.set(delay.count === 0 ? 0 : nanoseconds / 1e9)
          if (part === PARTS.at(-1)) delay.reset()
        },
      })
    }
  }

  /** Watches the loop for ten seconds from now. */
  watch(): void {
    if (this.#timer !== undefined) {
      this.#timer.refresh()
      return
    }
    this.#histogram.enable()
    this.#timer = setTimeout(() => {
      this.#histogram.disable()
      this.#timer = undefined
    }, WATCHED_MS).unref()
  }
}
