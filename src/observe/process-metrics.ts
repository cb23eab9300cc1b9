import { Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { EventLoopDelay } from './event-loop-delay.ts'

/** Begins the names, as it does those of the catalogue. */
const PREFIX = 'postern_'
/** The longest time that a timer takes: `EventLoopDelay` measures in its place. */
const NEVER_MS = 2 ** 31 - 1
/** How often the share of time at work is taken; each look wakes an idle process. */
const UTILIZATION_MS = 10_000

/** What is measured of the process, whatever runs in it. */
export interface ProcessMetrics {
  registry: Registry
  delay: EventLoopDelay
}

let measured: ProcessMetrics | null = null

/**
 * The metrics of the process, one for all sidecars in it: what the library measures them with has
 * no end, and would keep each sidecar that was stopped.
 */
export function processMetrics(): ProcessMetrics {
  measured ??= measure()
  return measured
}

function measure(): ProcessMetrics {
  const registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    prefix: PREFIX,
    eventLoopMonitoringPrecision: NEVER_MS,
    eventLoopUtilizationTimeout: UTILIZATION_MS,
  })
  return { registry, delay: new EventLoopDelay(registry, PREFIX) }
}
