import { Counter, Gauge, type Registry } from '@prometheus-io/client'

/** Those at work, and what waits for one of them. */
interface Load {
  busy: number
  waiting: number
}

/** What is known of the load, asked when somebody looks. Names come from closed sets. */
export interface LoadSource {
  /** Threads, by what they do. */
  threads(): Record<string, Load>
  /** Connections to the service, by pool. */
  connections(): Record<string, Load>
  /** Look-ups since the beginning, by cache. */
  caches(): Record<string, { hits: number; misses: number }>
}

/**
 * Shows how busy threads and connections are, and whether the caches are of use.
 * @param source asked at each look
 */
export function showLoad(registry: Registry, source: LoadSource): void {
  const gauge = (name: string, help: string, read: () => [string, number][]): void => {
    const collect = function (this: Gauge<string>): void {
      for (const [pool, value] of read()) this.set({ pool }, value)
    }
    void new Gauge({ name, help, labelNames: ['pool'], registers: [registry], collect })
  }
  const shown = (loads: Record<string, Load>, what: keyof Load): [string, number][] =>
    Object.entries(loads).map(([pool, load]) => [pool, load[what]])
  gauge('postern_threads_busy', 'Threads that compute, by what they do', () =>
    shown(source.threads(), 'busy'),
  )
  gauge('postern_threads_waiting', 'Jobs that wait for a thread', () =>
    shown(source.threads(), 'waiting'),
  )
  gauge('postern_upstream_connections_busy', 'Calls to the service under way, by pool', () =>
    shown(source.connections(), 'busy'),
  )
  gauge('postern_upstream_connections_waiting', 'Calls that wait for a connection', () =>
    shown(source.connections(), 'waiting'),
  )
  void new Counter({
    name: 'postern_cache_lookups_total',
    help: 'Look-ups in caches, by cache and whether the answer was there or had to be made',
    labelNames: ['cache', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [cache, { hits, misses }] of Object.entries(source.caches())) {
        this.inc({ cache, outcome: 'hit' }, hits)
        this.inc({ cache, outcome: 'miss' }, misses)
      }
    },
  })
}
