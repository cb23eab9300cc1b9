/**
 * One, two and three sidecars of the same bots on one database: sends a second of all together.
 * The sidecars have cores that nothing else may use, by `taskset`: one each where the machine has
 * enough of them. Database, service and load are other processes, on the cores that are left.
 */
import { execFileSync } from '../support/programs.ts'
import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { createSandbox } from '../../src/sandbox/create.ts'
import { freshSchema, ownCluster } from '../support/postgres.ts'
import { addBots, bodyOf, type BenchBot } from './bench-bots.ts'
import { Connection } from './load.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { cpuMsOf } from './package.ts'
import { startPosternForSeveral, type Process } from './processes.ts'

const COUNTS = [1, 2, 3] as const
const MOST = 3
const BOTS = 12
/** Sends of one bot at once. */
const AT_ONCE = 4
const ROUNDS = 9
const WARMUPS = 3
const SPAN_MS = 2000

/** How the cores of the machine are shared: the first ones belong to sidecars. */
const CORES = cpus().length
const OWN_CORES = Math.max(1, Math.min(MOST, CORES - 2))
const LEFT = `${OWN_CORES}-${CORES - 1}`

/** Of so many sidecars: sends a second, and CPU for each send, ms. */
interface Measured {
  perSecond: number[]
  sidecarMs: number[]
  databaseMs: number[]
}

/** The sends of one, two and three sidecars, in turns. */
export async function sidecarJobs(): Promise<Result[]> {
  if (CORES < 2) throw new Error('a sidecar has no core for itself on a machine of one core')
  await using stack = new AsyncDisposableStack()
  const { cluster } = stack.use(ownCluster())
  cluster.start()
  const root = stack.use(temporaryFolder()).path
  const sandbox = stack.use(await createSandbox({ rates: 'off' }))
  const folder = join(root, 'bots.d')
  mkdirSync(folder)
  const bots = await addBots(sandbox, BOTS, folder)
  const store = { url: cluster.url, schema: freshSchema() }
  const sidecars: Process[] = []
  for (let n = 0; n < MOST; n++) {
    const from = { upstream: sandbox.url, folder, dataDir: join(root, `data-${n}`), store }
    const sidecar = stack.use(await startPosternForSeveral(from))
    pin(sidecar.pid, String(n % OWN_CORES))
    sidecars.push(sidecar)
  }
  stack.defer(() => pin(process.pid, `0-${CORES - 1}`))
  for (const pid of [process.pid, ...cluster.pids()]) pin(pid, LEFT)

  const measured = new Map<number, Measured>()
  for (const count of COUNTS) measured.set(count, { perSecond: [], sidecarMs: [], databaseMs: [] })
  for (let turn = -WARMUPS; turn < ROUNDS; turn++) {
    for (const [count, { perSecond, sidecarMs, databaseMs }] of measured) {
      // each of them is the one in its turn, so that all have made as many sends
      const used = Array.from(
        { length: count },
        (_, n) => sidecars.at((n + turn) % MOST) as Process,
      )
      const spent = [used.map(({ pid }) => pid), cluster.pids()]
      const before = spent.map(cpuOfAll)
      const sent = await allSend(used, bots)
      if (turn < 0) continue
      const [sidecar = 0, database = 0] = spent.map((pids, n) => cpuOfAll(pids) - (before[n] ?? 0))
      perSecond.push((sent / SPAN_MS) * 1000)
      sidecarMs.push(sidecar / sent)
      databaseMs.push(database / sent)
    }
  }
  return [rowOf(measured)]
}

function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' })
}

const cpuOfAll = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0)

/** Each bot sends at each sidecar in turn. @returns sends that were answered with 201 */
async function allSend(sidecars: readonly Process[], bots: readonly BenchBot[]): Promise<number> {
  using stack = new DisposableStack()
  let sent = 0
  const endMs = performance.now() + SPAN_MS
  const lanes = bots.flatMap(({ token, chatId }, bot) =>
    Array.from({ length: AT_ONCE }, async (_, call) => {
      const { url } = sidecars[(bot + call) % sidecars.length] as Process
      const request = { path: '/bot/v1/messages', token, body: bodyOf(chatId) }
      const connection = stack.use(new Connection(url, request))
      while (performance.now() < endMs) if (await connection.ask()) sent++
    }),
  )
  await Promise.all(lanes)
  return sent
}

function rowOf(measured: ReadonlyMap<number, Measured>): Result {
  const rate = (count: number): number => median(measured.get(count)?.perSecond ?? [])
  const one = rate(1)
  const peers = COUNTS.slice(0, -1).map((count) => [`${count} of them`, 1000 / rate(count)])
  const lines = [...measured].map(
    ([count, { perSecond, sidecarMs, databaseMs }]) =>
      `${count} at once: ${round(median(perSecond))} sends a second, ${round(median(perSecond) / one)} times one; ` +
      `CPU for a send: sidecar ${round(median(sidecarMs))} ms, database ${round(median(databaseMs))} ms`,
  )
  const cores =
    OWN_CORES === MOST
      ? 'each sidecar has a core of its own'
      : `the machine has ${CORES} cores: ${MOST} sidecars share ${OWN_CORES}, and ${MOST + 2} cores are needed for one each`
  const notes = [...lines, cores]
  return resultOf('sidecars', 1000 / rate(MOST), Object.fromEntries(peers), { notes })
}
