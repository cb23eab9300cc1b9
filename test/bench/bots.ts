/** Several bots in one process, or in two on one database: memory and CPU of each, and the sends of all. */
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { RESTING_LOOK_MS } from '../../src/observe/service-watch.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { LATER_MS } from '../../src/util/shared-timers.ts'
import { ownCluster } from '../support/postgres.ts'
import { addBots, send, type BenchBot } from './bench-bots.ts'
import { resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { takenBy, type Taken } from './package.ts'
import { startPosternForSeveral, type Process } from './processes.ts'

const COUNTS = [1, 10, 100, 500, 1000]
/** `together`: two processes on one database, each with so many bots that are new. */
const KINDS = { bots: 1, 'bots-postgres': 1, 'bots-together': 2 }
type Kind = keyof typeof KINDS
/** Until threads that are no longer needed have ended. */
const SETTLE_MS = 40_000
/** Each bot at rest is checked once meanwhile. */
const IDLE_MS = RESTING_LOOK_MS + LATER_MS
const ALL_MS = 10_000
/** Bots that send at once, where all send as fast as they can: more would measure the sandbox. */
const AT_ONCE = 32

interface Measured {
  job: string
  /** Of each process. */
  startMs: number[]
  idle: { memory: number; cpuMsPerSecond: number; sleepsPerSecond: number }[]
  callsPerSecond: number
  sendsPerSecond: number
}

/** For each number of bots, what they take. */
export async function botJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const results: Result[] = []
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const jobs = COUNTS.filter((count) => wanted(`${kind}-${count}`))
    // what one takes is what each more is compared with
    const counts = jobs.length > 0 && KINDS[kind] === 1 ? new Set([1, ...jobs]) : jobs
    let memoryOfOne = NaN
    for (const count of counts) {
      const measured = await measure(kind, count)
      if (count === 1) memoryOfOne = measured.idle[0]?.memory ?? NaN
      results.push(rowOf(measured, (memory) => (memory - memoryOfOne) / (count - 1)))
    }
  }
  return results
}

function rowOf(
  { job, startMs, idle, ...m }: Measured,
  eachMore: (memory: number) => number,
): Result {
  const lines = idle.map(({ memory, cpuMsPerSecond, sleepsPerSecond }) => {
    const each = eachMore(memory)
    const more = Number.isFinite(each) ? `, ${round(each)} MiB for each bot more` : ''
    return `idle: ${Math.round(memory)} MiB${more}, CPU ${round(cpuMsPerSecond)} ms and ${round(sleepsPerSecond)} wake-ups a second`
  })
  const ready = startMs.map(Math.round).join(' and ')
  const notes = [
    ...lines,
    `idle: ${round(m.callsPerSecond)} calls a second to the service`,
    `${Math.round(m.sendsPerSecond)} sends a second in all; all ready ${ready} ms after a start`,
  ]
  return resultOf(job, Math.max(...startMs), {}, { notes })
}

async function measure(kind: Kind, count: number): Promise<Measured> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(temporaryFolder())
  const sandbox = stack.use(await createSandbox({ rates: 'off' }))
  const database = kind === 'bots' ? null : stack.use(ownCluster()).cluster
  database?.start([])
  const scenes: { from: Parameters<typeof startPosternForSeveral>[0]; bots: BenchBot[] }[] = []
  for (let n = 0; n < KINDS[kind]; n++) {
    const folder = join(path, `bots-${n}.d`)
    mkdirSync(folder)
    const bots = await addBots(sandbox, count, folder)
    const store = database === null ? undefined : { url: database.url, schema: `of_${n}` }
    const from = { upstream: sandbox.url, folder, dataDir: join(path, `data-${n}`), store }
    scenes.push({ from, bots })
  }
  // The first start makes the keys.
  if (kind !== 'bots-together')
    for (const { from } of scenes) await (await startPosternForSeveral(from))[Symbol.asyncDispose]()
  const started = scenes.map(({ from }) => startPosternForSeveral(from))
  const processes = (await Promise.all(started)).map((one) => stack.use(one))
  await pause(SETTLE_MS)
  const callsBefore = calls
  const before = processes.map(takenBy)
  await pause(IDLE_MS)
  const after = processes.map(takenBy)
  const perSecond = (difference: number): number => (difference / IDLE_MS) * 1000
  const callsPerSecond = perSecond(calls - callsBefore)
  const rates = processes.map((postern, n) => allSend(postern, scenes[n]?.bots ?? []))
  return {
    job: `${kind}-${count}`,
    startMs: processes.map(({ readyMs }) => readyMs),
    idle: after.map(({ memory, cpuMs, sleeps }, n) => {
      const was = before[n] as Taken
      const cpuMsPerSecond = perSecond(cpuMs - was.cpuMs)
      return { memory, cpuMsPerSecond, sleepsPerSecond: perSecond(sleeps - was.sleeps) }
    }),
    callsPerSecond,
    sendsPerSecond: (await Promise.all(rates)).reduce((sum, one) => sum + one, 0),
  }
}

/** Calls of bots at sandboxes of this process so far. */
let calls = 0
subscribe('http.server.request.start', (message) => {
  const { url = '' } = (message as { request: IncomingMessage }).request
  if (url.startsWith('/bot/v1/')) calls++
})

/** All bots send, so many at once. @returns sends a second */
async function allSend(postern: Process, bots: BenchBot[]): Promise<number> {
  let sent = 0
  const startedAt = performance.now()
  const lanes = Math.min(AT_ONCE, bots.length)
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      const mine = bots.filter((_bot, n) => n % lanes === lane)
      for (let n = 0; performance.now() - startedAt < ALL_MS; n = (n + 1) % mine.length) {
        const bot = mine[n]
        if (bot !== undefined) await send(postern, bot)
        sent++
      }
    }),
  )
  return (sent / (performance.now() - startedAt)) * 1000
}
