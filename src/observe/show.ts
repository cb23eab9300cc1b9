/** Metrics whose values are read at each scrape of `/metrics`. */
import type { ResourceLevels } from './expiry-warning.ts'
import { REASON_CODES, type Health } from './health.ts'
import { METRICS, type LabelsOf } from './metric-catalogue.ts'
import type { Metrics } from './metrics.ts'
import { WARNING_CODES, type Warnings } from './warnings.ts'

/** Shows readiness, and each reason against it. */
export function showHealth(metrics: Metrics, health: Health): void {
  metrics.showValue('postern_ready', () => (health.ready ? 1 : 0))
  metrics.show('postern_reason', () =>
    REASON_CODES.map((code) => [{ code }, health.holds(code) ? 1 : 0]),
  )
}

/** Shows how much waits at the service, and for how long by now. */
export function showBacklog(
  metrics: Metrics,
  read: () => { pending: number | null; oldestMs: number | null; leftMs: number | null },
): void {
  metrics.showValue('postern_updates_waiting', () => read().pending ?? 0)
  metrics.showValue('postern_updates_oldest_seconds', () => (read().oldestMs ?? 0) / 1000)
  metrics.showValue('postern_updates_dropped_in_seconds', () => seconds(read().leftMs))
}

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000)

/** Shows each warning. */
export const showWarnings = (metrics: Metrics, warnings: Warnings): void =>
  metrics.show('postern_warning', () =>
    WARNING_CODES.map((code) => [{ code }, warnings.holds(code) ? 1 : 0]),
  )

/** Shows the levels of the last check; null before the first check. */
export function showResources(metrics: Metrics, latest: () => ResourceLevels | null): void {
  metrics.show('postern_ends_in_seconds', () => {
    const levels = latest()
    if (levels === null) return []
    const ends = {
      key: levels.keyEndsMs,
      authority: levels.authorityEndsMs,
      'needed-key': levels.neededKeyEndsMs,
    }
    return METRICS.postern_ends_in_seconds.labels.what.flatMap((what) =>
      ends[what] === Infinity ? [] : [[{ what }, (ends[what] - Date.now()) / 1000]],
    )
  })
  metrics.showValue('postern_disk_free_bytes', () => latest()?.diskFreeBytes ?? null)
  metrics.showValue('postern_memory_used_ratio', () => latest()?.memoryUsed ?? null)
}

/** The bot's own keys. */
export interface KeySource {
  keys(): readonly { state: LabelsOf<'postern_own_keys'>['state']; publishedAtMs: number | null }[]
  /** The result of the last check of `/me`; null before the first. */
  situation(): LabelsOf<'postern_key_situation'>['situation'] | null
}

/** Shows the bot's own keys: their number and age, and the service's key state against them. */
export function showKeys(metrics: Metrics, source: KeySource): void {
  metrics.showValue('postern_key_age_seconds', () => {
    const active = source.keys().find(({ state }) => state === 'active')
    const publishedAtMs = active?.publishedAtMs ?? null
    return publishedAtMs === null ? null : (Date.now() - publishedAtMs) / 1000
  })
  metrics.show('postern_own_keys', () =>
    METRICS.postern_own_keys.labels.state.map((state) => [
      { state },
      source.keys().filter((key) => key.state === state).length,
    ]),
  )
  metrics.show('postern_key_situation', () =>
    METRICS.postern_key_situation.labels.situation.map((situation) => [
      { situation },
      situation === source.situation() ? 1 : 0,
    ]),
  )
}

/** How many are busy, and how many jobs wait for one. */
type Load = Record<'busy' | 'waiting', number>

/** The load of the sidecar. Names are of closed sets. */
export interface LoadSource {
  /** Threads, by their kind of job. */
  threads(): Record<string, Load>
  /** Connections to the service, by pool. */
  connections(): Record<string, Load>
  /** Hits and misses since the start, by cache. */
  caches(): Record<string, { hits: number; misses: number }>
}

/** Shows how busy threads and connections are, and whether the caches are of use. */
export function showLoad(metrics: Metrics, source: LoadSource): void {
  for (const what of ['busy', 'waiting'] as const) {
    const samples = (loads: Record<string, Load>): [{ pool: string }, number][] =>
      Object.entries(loads).map(([pool, load]) => [{ pool }, load[what]])
    metrics.show(`postern_threads_${what}`, () => samples(source.threads()))
    metrics.show(`postern_upstream_connections_${what}`, () => samples(source.connections()))
  }
  metrics.show('postern_cache_lookups_total', () =>
    Object.entries(source.caches()).flatMap(([cache, { hits, misses }]) => [
      [{ cache, outcome: 'hit' as const }, hits],
      [{ cache, outcome: 'miss' as const }, misses],
    ]),
  )
}
