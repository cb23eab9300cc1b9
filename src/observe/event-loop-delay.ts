import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from '@prometheus-io/client'

/** Interval of measurements. */
const RESOLUTION_MS = 20
/** How long measuring continues after the last work. */
const WATCHED_MS = 10_000

/**
 * The delay of the event loop, under the names that prom-client gives its own measurement. It is
 * measured only during work: a measurement of an idle loop would wake it fifty times a
 * second.
 * @param prefix of the names
 */
export function eventLoopDelay(registry: Registry, prefix: string) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const shown: Record<string, [help: string, nanoseconds: () => number]> = {
    min: ['The minimum recorded event loop delay.', () => delay.min],
    max: ['The maximum recorded event loop delay.', () => delay.max],
    mean: ['The mean of the recorded event loop delays.', () => delay.mean],
    stddev: ['The standard deviation of the recorded event loop delays.', () => delay.stddev],
    p50: ['The 50th percentile of the recorded event loop delays.', () => delay.percentile(50)],
    p90: ['The 90th percentile of the recorded event loop delays.', () => delay.percentile(90)],
    p99: ['The 99th percentile of the recorded event loop delays.', () => delay.percentile(99)],
  }
  const last = Object.keys(shown).at(-1)
  for (const [part, [help, nanoseconds]] of Object.entries(shown)) {
    const name = `${prefix}nodejs_eventloop_lag_${part}_seconds`
    registry.removeSingleMetric(name)
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: () => {
        gauge.set(delay.count === 0 ? 0 : nanoseconds() / 1e9)
        if (part === last) delay.reset()
      },
    })
  }
  let timer: NodeJS.Timeout | undefined
  return {
    /** Watches the loop for ten seconds from now. */
    watch(): void {
      if (timer !== undefined) return void timer.refresh()
      delay.enable()
      timer = setTimeout(() => {
        delay.disable()
        timer = undefined
      }, WATCHED_MS).unref()
    },
  }
}
