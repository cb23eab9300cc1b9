/** Several bots in one process: memory and CPU of each, and the sends of all. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { addBots, send, type BenchBot } from './bench-bots.ts'
import { resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { takenBy } from './package.ts'
import { startPosternForSeveral, type Process } from './processes.ts'

const COUNTS = [1, 10, 100, 500, 1000]
/** Until threads that are no longer needed have ended. */
const SETTLE_MS = 40_000
const IDLE_MS = 20_000
const ALL_MS = 10_000
/** Bots that send at once, where all send as fast as they can: more would measure the sandbox. */
const AT_ONCE = 32

interface Measured {
  count: number
  startMs: number
  memory: number
  cpuMsPerSecond: number
  sleepsPerSecond: number
  sendsPerSecond: number
}

/** For each number of bots, what one of them takes. */
export async function botJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const measured: Measured[] = []
  for (const count of COUNTS) {
    const isWanted = wanted(`bots-${count}`)
    // what one takes is what each more is compared with
    const isNeeded = count === 1 && COUNTS.some((other) => wanted(`bots-${other}`))
    if (isWanted || isNeeded) measured.push(await measure(count))
  }
  const [one] = measured
  return measured.map((each) => rowOf(each, one?.memory ?? 0))
}

function rowOf(m: Measured, memoryOfOne: number): Result {
  const { count, memory } = m
  const each =
    count === 1 ? '' : `, ${round((memory - memoryOfOne) / (count - 1))} MiB for each bot more`
  return resultOf(
    `bots-${count}`,
    m.startMs,
    {},
    {
      notes: [
        `idle: ${Math.round(memory)} MiB${each}, CPU ${round(m.cpuMsPerSecond)} ms and ${round(m.sleepsPerSecond)} wake-ups a second`,
        `${Math.round(m.sendsPerSecond)} sends a second in all; all ready ${Math.round(m.startMs)} ms after a start`,
      ],
    },
  )
}

async function measure(count: number): Promise<Measured> {
  using root = temporaryFolder()
  await using sandbox = await createSandbox({ rates: 'off' })
  const folder = join(root.path, 'bots.d')
  mkdirSync(folder)
  const bots = await addBots(sandbox, count, folder)
  const dataDir = join(root.path, 'data')
  const from = { upstream: sandbox.url, folder, dataDir }
  // The first start makes the keys.
  await (await startPosternForSeveral(from))[Symbol.asyncDispose]()
  await using postern = await startPosternForSeveral(from)
  await pause(SETTLE_MS)
  const before = takenBy(postern)
  await pause(IDLE_MS)
  const after = takenBy(postern)
  return {
    count,
    startMs: postern.readyMs,
    memory: after.memory,
    cpuMsPerSecond: ((after.cpuMs - before.cpuMs) / IDLE_MS) * 1000,
    sleepsPerSecond: ((after.sleeps - before.sleeps) / IDLE_MS) * 1000,
    sendsPerSecond: await allSend(postern, bots),
  }
}

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
