/** What many bots at rest cost the database that several sidecars share, and what more would. */
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import type { Cluster } from '../support/postgres.ts'
import { resultOf, round, type Result } from './measure.ts'
import { takenBy } from './package.ts'
import type { Process } from './processes.ts'
import { startReplicas } from './replicas-three.ts'

const PROCESSES = 3
const BOTS = { few: 20, many: 100 }
const SETTLE_MS = 40_000
const IDLE_MS = 30_000
/** On paper: processes, and bots, each of which every process has. */
const PAPER = [10, 100].flatMap((processes) =>
  [1000, 10_000, 100_000].map((bots) => ({ processes, bots })),
)

/** Of all processes together. */
interface Cost {
  connections: number
  locks: number
  /** At the server, a second. */
  transactions: number
  walBytes: number
  /** Of the processes. */
  mib: number
  /** Of CPU, a second: bots that had traffic within the hour, for which the service is asked five times as often. */
  cpuMs: number
}

const UNITS: Record<keyof Cost, string> = {
  connections: 'connections',
  locks: 'locks',
  transactions: 'transactions a second',
  walBytes: 'bytes of WAL a second',
  mib: 'MiB of memory',
  cpuMs: 'ms of CPU a second',
}
const NAMES = Object.keys(UNITS) as (keyof Cost)[]
const shown = (cost: (name: keyof Cost) => number): string =>
  NAMES.map((name) => `${round(cost(name))} ${UNITS[name]}`).join(', ')

/** Three sidecars with a few bots and with many; from both follows what a process and a bot cost. */
export async function atRestJob(cluster: Cluster): Promise<Result> {
  const few = await measure(cluster, BOTS.few)
  const many = await measure(cluster, BOTS.many)
  const onPaper = (name: keyof Cost, bots: number): number => {
    const eachBot = Math.max(0, many[name] - few[name]) / (BOTS.many - BOTS.few)
    return many[name] + eachBot * (bots - BOTS.many)
  }
  const notes = [
    `${BOTS.few} bots on ${PROCESSES} sidecars: ${shown((name) => few[name])}`,
    `${BOTS.many} bots on ${PROCESSES} sidecars: ${shown((name) => many[name])}`,
    ...PAPER.map(({ processes, bots }) => {
      const cost = shown((name) => (onPaper(name, bots) / PROCESSES) * processes)
      return `on paper, ${bots} bots on ${processes} sidecars: ${cost}`
    }),
  ]
  return resultOf('replicas-rest', 1000 / many.transactions, {}, { notes })
}

async function measure(cluster: Cluster, count: number): Promise<Cost> {
  await using stack = new AsyncDisposableStack()
  const { sidecars } = await startReplicas({ cluster, count, processes: PROCESSES }, stack)
  await pause(SETTLE_MS)
  const client = new Client(cluster.url)
  await client.connect()
  stack.defer(() => client.end())
  const before = await look(client, sidecars)
  await pause(IDLE_MS)
  const after = await look(client, sidecars)
  const perSecond = (name: keyof Cost): number => ((after[name] - before[name]) / IDLE_MS) * 1000
  return {
    ...after,
    transactions: perSecond('transactions'),
    walBytes: perSecond('walBytes'),
    cpuMs: perSecond('cpuMs'),
  }
}

/** As of now; what is a rate counts since the beginning. */
async function look(client: Client, sidecars: readonly Process[]): Promise<Cost> {
  const { rows } = await client.query<Omit<Cost, 'mib' | 'cpuMs'>>(`
    SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'postern') AS connections,
      (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks,
      (SELECT sum(xact_commit + xact_rollback)::float8 FROM pg_stat_database) AS transactions,
      (pg_current_wal_lsn() - '0/0')::float8 AS "walBytes"`)
  const [counts] = rows
  if (counts === undefined) throw new Error('the database does not answer')
  const taken = sidecars.map(takenBy)
  const sum = (name: 'memory' | 'cpuMs'): number => taken.reduce((all, one) => all + one[name], 0)
  return { ...counts, mib: sum('memory'), cpuMs: sum('cpuMs') }
}
