/** What a flooded bot costs another one of its process, against one that is flooded in another process. */
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freshSchema, hasPostgres, ownCluster, type Cluster } from '../support/postgres.ts'
import { connectionOf, type BenchBot } from './bench-bots.ts'
import type { Connection } from './load.ts'
import { startLoad, type Load } from './load-process.ts'
import { WATCHED } from './loop-times.ts'
import { median, resultOf, round, slowest, temporaryFolder, type Result } from './measure.ts'
import { CpuMeter, cpuMsOfAll } from './package.ts'
import { startPosternForSeveral, type Process } from './processes.ts'
import { startSandbox, type SandboxProcess } from './sandbox-process.ts'

/** Bots of each of the two processes. */
const COUNTS = [10, 100, 500]
const ROUNDS = 6
/** Of each process and round while nobody is flooded, while one is, while the other is. */
const SENDS = 40
/** Sends of the flooded bot at once. */
const FLOOD = 64
const SETTLE_MS = 400
const BETWEEN_MS = 20

/** A process with several bots: the first is measured, the last is flooded. */
interface Home {
  postern: Process
  bots: BenchBot[]
  connection: Connection
  loopTimes: string
}

/** Which process is flooded, as the measured bot sees it. */
type Where = 'nowhere' | 'beside' | 'here'

interface Times {
  ms: number[]
  loopMs: number[]
}

/** With stores in folders, then in a cluster of PostgreSQL of its own. */
export async function fairnessJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const results: Result[] = []
  for (const count of COUNTS) {
    const job = `bots-fair-${count}`
    if (wanted(job)) results.push(await fairnessJob(job, count))
  }
  for (const count of hasPostgres() ? COUNTS : []) {
    const job = `bots-fair-postgres-${count}`
    if (!wanted(job)) continue
    using own = ownCluster()
    own.cluster.start()
    results.push(await fairnessJob(job, count, own.cluster))
  }
  return results
}

/**
 * A bot of each of two processes sends, in turns while nobody is flooded, while another bot of the
 * one process is, and while one of the other is. Sandbox, flood and measurement are processes, too.
 */
async function fairnessJob(job: string, count: number, cluster?: Cluster): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const root = stack.use(temporaryFolder()).path
  const sandbox = stack.use(await startSandbox())
  const load = stack.use(startLoad())
  const start = (name: string): Promise<Home> =>
    startHome({ sandbox, root: join(root, name), count, cluster }, stack)
  const homes = [await start('one'), await start('other')]
  const cpu = new CpuMeter({
    sidecars: () => cpuMsOfAll(homes.map(({ postern }) => postern.pid)),
    ...(cluster && { PostgreSQL: () => cpuMsOfAll(cluster.pids()) }),
    sandbox: () => cpuMsOfAll([sandbox.pid]),
    flood: () => cpuMsOfAll([load.pid]),
    measurement: () => cpuMsOfAll([process.pid]),
  })
  const times: Record<Where, Times> = {
    nowhere: { ms: [], loopMs: [] },
    beside: { ms: [], loopMs: [] },
    here: { ms: [], loopMs: [] },
  }
  const floods: number[] = []
  for (let turn = -1; turn < ROUNDS; turn++) {
    for (const flooded of [null, ...homes]) {
      const perSecond = await sendDuring(load, flooded, async () => {
        const run = (): Promise<Times[]> => sendAll(homes)
        const all = flooded === null || turn < 0 ? await run() : await cpu.during(run)
        for (const [index, some] of turn < 0 ? [] : all.entries()) {
          const where = flooded === null ? 'nowhere' : flooded === homes[index] ? 'here' : 'beside'
          times[where].ms.push(...some.ms)
          times[where].loopMs.push(...some.loopMs)
        }
      })
      if (flooded !== null && turn >= 0) floods.push(perSecond)
    }
  }
  return rowOf(
    job,
    times,
    `${round(median(floods))} sends of the flooded bot a second; ${cpu.cores()}`,
  )
}

async function startHome(
  o: { sandbox: SandboxProcess; root: string; count: number; cluster: Cluster | undefined },
  stack: AsyncDisposableStack,
): Promise<Home> {
  const { sandbox, root, count, cluster } = o
  const folder = join(root, 'bots.d')
  mkdirSync(folder, { recursive: true })
  const loopTimes = join(root, 'loop-times')
  writeFileSync(loopTimes, '')
  const bots = await sandbox.addBots(count, folder)
  const store = cluster && { url: cluster.url, schema: freshSchema() }
  const from = { upstream: sandbox.url, folder, dataDir: join(root, 'data'), loopTimes, store }
  // The first start makes the keys.
  await (await startPosternForSeveral(from))[Symbol.asyncDispose]()
  const postern = stack.use(await startPosternForSeveral(from))
  const [first] = bots
  if (first === undefined) throw new Error('no bot')
  return { postern, bots, loopTimes, connection: stack.use(connectionOf(postern, first, WATCHED)) }
}

/** @returns sends of the flooded bot, a second */
async function sendDuring(
  load: Load,
  flooded: Home | null,
  run: () => Promise<void>,
): Promise<number> {
  const bot = flooded?.bots.at(-1)
  if (flooded !== null && bot !== undefined) {
    const { url } = flooded.postern
    await load.start(Array.from({ length: FLOOD }, () => ({ url, bot })))
  }
  await pause(SETTLE_MS)
  await run()
  return await load.stop()
}

/** The first bots of both send in turn. @returns the times of each */
async function sendAll(homes: readonly Home[]): Promise<Times[]> {
  for (const { loopTimes } of homes) truncateSync(loopTimes)
  const times = homes.map((): number[] => [])
  for (let n = 0; n < SENDS; n++) {
    for (const [index, { connection }] of homes.entries()) {
      const sentAt = performance.now()
      if (!(await connection.ask())) throw new Error('the measured bot was refused')
      times[index]?.push(performance.now() - sentAt)
      await pause(BETWEEN_MS)
    }
  }
  return homes.map(({ loopTimes }, index) => ({
    ms: times[index] ?? [],
    loopMs: readFileSync(loopTimes, 'utf8').trim().split('\n').map(Number),
  }))
}

function rowOf(job: string, times: Record<Where, Times>, flood: string): Result {
  const loopMs = (where: Where): number => round(median(times[where].loopMs))
  const peers = {
    'nobody is flooded': median(times.nowhere.ms),
    'flooded in another process': median(times.beside.ms),
  }
  return resultOf(job, median(times.here.ms), peers, {
    slowest: {
      ours: slowest(times.here.ms),
      'nobody is flooded': slowest(times.nowhere.ms),
      'flooded in another process': slowest(times.beside.ms),
    },
    notes: [
      `work of the loop during a send: ${loopMs('here')} ms, ${loopMs('nowhere')} ms while nobody is flooded, ${loopMs('beside')} ms while another process is`,
      `${times.here.ms.length} sends each; ${flood}; load of the machine ${round(loadavg()[0] ?? Number.NaN)}`,
    ],
  })
}
