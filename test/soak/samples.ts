import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Process, StorePlace } from '../bench/processes.ts'
import type { Cluster } from '../support/postgres.ts'
import { median } from '../bench/measure.ts'

/** What sidecars, together, and their store have at a moment, by name. */
export type Sample = Record<string, number>

const MIB = 1024 * 1024

/** The sum of what sidecars report in their own metrics. */
export async function sampleProcesses(sidecars: readonly Process[]): Promise<Sample> {
  const texts = await Promise.all(
    sidecars.map(async ({ admin }) => await (await fetch(`${admin}/metrics`)).text()),
  )
  const sum = (name: string): number =>
    texts.reduce((total, text) => {
      const line = new RegExp(`^postern_${name} (\\S+)$`, 'm').exec(text)
      return total + Number(line?.[1] ?? Number.NaN)
    }, 0)
  return {
    'rss MiB': sum('process_resident_memory_bytes') / MIB,
    'heap MiB': sum('nodejs_heap_size_used_bytes') / MIB,
    handles: sum('nodejs_active_resources_total'),
    fds: sum('process_open_fds'),
  }
}

/** The files of a store. */
export function sampleFolder(folder: string): Sample {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
  return { files: sizes.length, 'files MiB': sizes.reduce((sum, size) => sum + size, 0) / MIB }
}

/** A store in a database, whose server lists the different statements that it was sent. */
export function sampleDatabase(cluster: Cluster, { schema }: StorePlace): Sample {
  const [bytes = 0, sessions = 0, statements = 0] = cluster
    .sql(
      `SELECT sum(pg_total_relation_size(c.oid)), (SELECT count(*) FROM pg_stat_activity),
        (SELECT count(*) FROM pg_stat_statements)
      FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
      WHERE nspname LIKE '${schema}%' AND relkind = 'r'`,
    )
    .split('|')
    .map(Number)
  return { 'files MiB': bytes / MIB, sessions, statements }
}

/**
 * Of each figure the medians of the second quarter and of the last one, the first is for warming
 * up; `isFlat` when the last is higher by a tenth at most.
 */
export function drift(samples: readonly Sample[]) {
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  const parts = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)]
  return Object.keys(samples[0] ?? {}).map((name) => {
    const [early = 0, late = 0] = parts.map((part) => median(part.map((one) => one[name] ?? 0)))
    return { name, early, late, isFlat: late <= early * 1.1 }
  })
}
