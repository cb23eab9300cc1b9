import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'

const SECONDS = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 75]

/** What is known of attachments, asked when somebody looks. */
export interface MediaSource {
  openings(): number
  spoolBytes(): number
}

/** What is counted of attachments. */
export class MediaMetrics {
  readonly #outcomes: Counter<string>
  readonly #seconds: Histogram<string>

  constructor(registry: Registry, source: MediaSource) {
    const registers = [registry]
    this.#outcomes = new Counter({
      name: 'postern_media_total',
      help: 'Attachments fetched, by verdict, stored (given as it is), or an error’s code',
      labelNames: ['outcome'],
      registers,
    })
    this.#seconds = new Histogram({
      name: 'postern_media_duration_seconds',
      help: 'Time to fetch an attachment and open it',
      buckets: SECONDS,
      registers,
    })
    for (const gauge of gaugesOf(source)) registry.registerMetric(gauge)
  }

  /** One was fetched; `outcome` is a verdict, `stored`, `service` or a code of ours. */
  fetched(o: { outcome: string; ms: number }): void {
    this.#outcomes.inc({ outcome: o.outcome })
    this.#seconds.observe(o.ms / 1000)
  }
}

function gaugesOf(source: MediaSource): Gauge<string>[] {
  const openings = new Gauge({
    name: 'postern_media_openings',
    help: 'Attachments that are being fetched and opened now',
    registers: [],
    collect() {
      this.set(source.openings())
    },
  })
  const spool = new Gauge({
    name: 'postern_media_spool_bytes',
    help: 'What attachments take on the disk of dataDir',
    registers: [],
    collect() {
      this.set(source.spoolBytes())
    },
  })
  return [openings, spool] as Gauge<string>[]
}
