/** How many sends a second three sidecars make on one PostgreSQL, against one, and what each part takes. */
import { mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freshSchema, type Cluster } from '../support/postgres.ts'
import type { BenchBot } from './bench-bots.ts'
import { startLoad, type Lane } from './load-process.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { CpuMeter, cpuMsOfAll, loopMsOf } from './package.ts'
import { startPosternForSeveral, type Process } from './processes.ts'
import { startSandbox, type SandboxProcess } from './sandbox-process.ts'

const PROCESSES = 3
const BOTS = 12
/** Each bot sends so many at once. */
const AT_ONCE = 4
const WARM_UPS = 3
const ROUNDS = 6
const SPAN_MS = 4000
const SETTLE_MS = 1000
/** A part of the sidecars' CPU: their main threads, of which each can keep one core busy. */
const LOOPS = 'their loops'

interface Replicas {
  sandbox: SandboxProcess
  bots: BenchBot[]
  sidecars: Process[]
}

/** So many sidecars with the same bots, before a sandbox of its own. */
export async function startReplicas(
  { cluster, count, processes }: { cluster: Cluster; count: number; processes: number },
  stack: AsyncDisposableStack,
): Promise<Replicas> {
  const root = stack.use(temporaryFolder()).path
  const sandbox = stack.use(await startSandbox())
  const folder = join(root, 'bots.d')
  mkdirSync(folder)
  const bots = await sandbox.addBots(count, folder)
  const store = { url: cluster.url, schema: freshSchema() }
  const sidecars: Process[] = []
  for (let n = 0; n < processes; n++) {
    const dataDir = join(root, `data-${n}`)
    const sidecar = await startPosternForSeveral({ upstream: sandbox.url, folder, dataDir, store })
    sidecars.push(stack.use(sidecar))
  }
  return { sandbox, bots, sidecars }
}

/** Ways to spread the load over the sidecars: which of them gets a bot's call, if any. */
const WAYS: Record<string, (bot: number, call: number) => number | null> = {
  three: (bot, call) => (bot + call) % PROCESSES,
  one: () => 0,
  'three, each bot at one of them': (bot) => bot % PROCESSES,
  'one, a third of the load': (bot, call) => ((bot + call) % PROCESSES === 0 ? 0 : null),
}

/** One of them, and what was measured. */
interface Way {
  name: string
  cpu: CpuMeter
  /** Sends a second, of each round. */
  perSecond: number[]
}

/** The load goes to one of three sidecars, and is spread over all, in turns. */
export async function threeJob(cluster: Cluster): Promise<Result> {
  await using stack = new AsyncDisposableStack()
  const from = { cluster, count: BOTS, processes: PROCESSES }
  const { sandbox, bots, sidecars } = await startReplicas(from, stack)
  const load = stack.use(startLoad())
  let used = sidecars
  const parts = {
    sidecars: () => cpuMsOfAll(used.map(({ pid }) => pid)),
    [LOOPS]: () => used.reduce((sum, { pid }) => sum + loopMsOf(pid), 0),
    PostgreSQL: () => cpuMsOfAll(cluster.pids()),
    sandbox: () => cpuMsOfAll([sandbox.pid]),
    load: () => cpuMsOfAll([load.pid]),
  }
  const ways = Object.keys(WAYS).map((name): Way => {
    return { name, cpu: new CpuMeter(parts), perSecond: [] }
  })
  for (let turn = -WARM_UPS; turn < ROUNDS; turn++) {
    // each of them is the one in its turn, so that all have made as many sends
    const turned = sidecars.map((_, n) => sidecars.at((n + turn) % PROCESSES) as Process)
    for (const { name, cpu, perSecond } of ways) {
      const lanes = lanesOf(name, turned, bots)
      used = sidecars.filter(({ url }) => lanes.some((to) => to.url === url))
      await load.start(lanes)
      await pause(SETTLE_MS)
      const run = async (): Promise<number> => {
        await load.start(lanes)
        await pause(SPAN_MS)
        return await load.stop()
      }
      if (turn < 0) await run()
      else perSecond.push(await cpu.during(run))
    }
  }
  return rowOf(ways)
}

function lanesOf(name: string, sidecars: readonly Process[], bots: readonly BenchBot[]): Lane[] {
  const calls = bots.flatMap((bot, index) =>
    Array.from({ length: AT_ONCE }, (_, call) => ({ bot, to: WAYS[name]?.(index, call) ?? null })),
  )
  return calls.flatMap(({ bot, to }) => {
    const url = to === null ? undefined : sidecars[to]?.url
    return url === undefined ? [] : [{ url, bot }]
  })
}

function rowOf(ways: readonly Way[]): Result {
  const [three, one] = ways as [Way, Way]
  const msOf = ({ perSecond }: Way): number => 1000 / median(perSecond)
  /** CPU of a part for a send. */
  const eachOf = ({ cpu, perSecond }: Way, part: string): number =>
    cpu.spentMs(part) / perSecond.reduce((sum, each) => sum + (each * SPAN_MS) / 1000, 0)
  const shown = (way: Way, factor = 1): string =>
    way.cpu.parts.map((part) => `${part} ${round(eachOf(way, part) * factor)}`).join(', ')
  const mostOf = (way: Way, loops: number): number => (loops * 1000) / eachOf(way, LOOPS)
  const [most, mostOfOne] = [mostOf(three, PROCESSES), mostOf(one, 1)]
  const others = ways.slice(1).map((way) => [way.name, msOf(way)] as const)
  return resultOf('replicas-three', msOf(three), Object.fromEntries(others), {
    notes: [
      ...ways.flatMap((way) => [
        `${way.name}: ${round(median(way.perSecond))} sends a second; ${way.cpu.cores()}`,
        `${way.name}: ms of CPU for a send: ${shown(way)}`,
      ]),
      `on paper, a core for each loop: ${round(mostOfOne)} sends a second of one, ${round(most)} of three, ratio ${round(most / mostOfOne)}`,
      `on paper, three would need these cores: ${shown(three, most / 1000)}`,
      `load of the machine ${round(loadavg()[0] ?? Number.NaN)}`,
    ],
  })
}
