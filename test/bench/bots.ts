/** Several bots in one process: memory for each, sends of all, and one while the others are busy. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { addBot, addBots, benchDatabase, send, type BenchBot } from './bench-bots.ts'
import { fairnessJobs } from './fairness.ts'
import { median, round, type Result } from './measure.ts'
import { takenBy } from './package.ts'
import { startPostern, startPosternForSeveral, type Process } from './processes.ts'

const COUNTS = [1, 10, 100, 500, 1000]
/** Until threads that are no longer needed have ended. */
const SETTLE_MS = 40_000
const IDLE_MS = 20_000
const ALL_MS = 10_000
const SENDS = 60
/** Sends of the flooded bot at once. */
const FLOOD = 64
/** Where all others are busy: their sends a second in all. */
const SENDS_PER_SECOND = 50
/** Bots that send at once, where all send as fast as they can: more would measure the sandbox. */
const AT_ONCE = 32
const BETWEEN_MS = 20

interface Measured {
  count: number
  startMs: number
  memory: number
  cpuMsPerSecond: number
  sleepsPerSecond: number
  sendsPerSecond: number
  aloneMs: number
  floodedMs: number
  busyMs: number
  /** The same through a sidecar of its own, which shares nothing but the machine and the service. */
  beside: { aloneMs: number; floodedMs: number; busyMs: number }
}

/** For each number of bots, what one of them takes and how long its sends take. */
export async function botJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  const measured: Measured[] = []
  for (const count of COUNTS) {
    const isWanted = wanted(`bots-${count}`)
    // what one takes is what each more is compared with
    const isNeeded = count === 1 && COUNTS.some((other) => wanted(`bots-${other}`))
    if (isWanted || isNeeded) measured.push(await measure(count))
  }
  const [one] = measured
  const results = measured.map((each) => resultOf(each, one?.memory ?? 0))
  return [...results, ...(await fairnessJobs(wanted))]
}

function resultOf(m: Measured, memoryOfOne: number): Result {
  const { count, aloneMs, floodedMs, busyMs, memory } = m
  const each =
    count === 1 ? '' : `, ${round((memory - memoryOfOne) / (count - 1))} MiB for each bot more`
  return {
    job: `bots-${count}`,
    ms: round(aloneMs),
    vs: {
      'another is flooded': { ms: round(floodedMs), ratio: round(floodedMs / aloneMs) },
      'all others send': { ms: round(busyMs), ratio: round(busyMs / aloneMs) },
    },
    notes: [
      `idle: ${Math.round(memory)} MiB${each}, CPU ${round(m.cpuMsPerSecond)} ms and ${round(m.sleepsPerSecond)} wake-ups a second`,
      `beside, in a process of its own: ${round(m.beside.aloneMs)} ms alone, ${round(m.beside.floodedMs)} ms while another is flooded, ${round(m.beside.busyMs)} ms while all others send`,
      `${Math.round(m.sendsPerSecond)} sends a second in all; all ready ${Math.round(m.startMs)} ms after a start`,
    ],
  }
}

async function measure(count: number): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), 'postern-bots-'))
  try {
    await using sandbox = await createSandbox({ rates: 'off' })
    const folder = join(root, 'bots.d')
    mkdirSync(folder)
    const bots = await addBots(sandbox, count, folder)
    const store = benchDatabase()
    const start = (): Promise<Process> =>
      startPosternForSeveral({
        upstream: sandbox.url,
        folder,
        dataDir: join(root, 'data'),
        store,
      })
    // The first start makes the keys.
    await (await start())[Symbol.asyncDispose]()
    await using postern = await start()
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
      ...(await besideAnother(sandbox, (beside) => oneSends(postern, { bots, beside }))),
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** A bot, and the process that serves it. */
interface Served {
  postern: Process
  bot: BenchBot
}

async function besideAnother<T>(sandbox: Sandbox, use: (beside: Served) => Promise<T>): Promise<T> {
  const bot = await addBot(sandbox)
  await using postern = await startPostern({
    upstream: sandbox.url,
    token: bot.token,
    publish: true,
  })
  return await use({ postern, bot })
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

/** The first bot sends while the others do nothing, while the last is flooded, while all others send. */
async function oneSends(
  postern: Process,
  { bots, beside }: { bots: BenchBot[]; beside: Served },
): Promise<Pick<Measured, 'aloneMs' | 'floodedMs' | 'busyMs' | 'beside'>> {
  const [bot, ...others] = bots
  const last = bots.at(-1)
  if (bot === undefined || last === undefined) throw new Error('no bot')
  const pair: Served[] = [{ postern, bot }, beside]
  const timed = async (): Promise<[number, number]> => {
    const times = pair.map((): number[] => [])
    for (let n = 0; n < 2 * SENDS; n++) {
      const one = pair[n % 2] ?? beside
      const startedAt = performance.now()
      await send(one.postern, one.bot)
      times[n % 2]?.push(performance.now() - startedAt)
      await pause(BETWEEN_MS)
    }
    return [median(times[0] ?? []), median(times[1] ?? [])]
  }
  const during = async (
    loads: ((end: AbortSignal) => Promise<void>)[],
  ): Promise<[number, number]> => {
    const end = new AbortController()
    const running = loads.map((load) => load(end.signal))
    await pause(500)
    const times = await timed()
    end.abort()
    await Promise.all(running)
    return times
  }
  await timed()
  const alone = await timed()
  const flood = async (end: AbortSignal): Promise<void> => {
    while (!end.aborted) await send(postern, last)
  }
  const floods = others.length === 0 ? [] : Array.from({ length: FLOOD }, () => flood)
  const flooded = await during(floods)
  const everyMs = (others.length / SENDS_PER_SECOND) * 1000
  const busy = await during(
    others.map((other, n) => async (end) => {
      await pause((n / others.length) * everyMs)
      while (!end.aborted) {
        await send(postern, other)
        await pause(everyMs)
      }
    }),
  )
  return {
    aloneMs: alone[0],
    floodedMs: flooded[0],
    busyMs: busy[0],
    beside: { aloneMs: alone[1], floodedMs: flooded[1], busyMs: busy[1] },
  }
}
