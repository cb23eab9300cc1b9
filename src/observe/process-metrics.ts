import { Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { eventLoopDelay } from './event-loop-delay.ts'

/** Begins the names, as it does those of the catalogue. */
const PREFIX = 'postern_'
/** The longest delay of a timer: turns the library's own measurement off, for `eventLoopDelay`. */
const NEVER_MS = 2 ** 31 - 1
/** How often the share of busy time is measured; each measurement wakes an idle process. */
const UTILIZATION_MS = 10_000

let measured: ReturnType<typeof measure> | null = null

/**
 * The metrics of the process, one for all sidecars in it: the library's measurement never ends,
 * and would keep each stopped sidecar in memory.
 */
export function processMetrics() {
  return (measured ??= measure())
}

function measure() {
  const registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    prefix: PREFIX,
    eventLoopMonitoringPrecision: NEVER_MS,
    eventLoopUtilizationTimeout: UTILIZATION_MS,
  })
  return { registry, delay: eventLoopDelay(registry, PREFIX) }
}
