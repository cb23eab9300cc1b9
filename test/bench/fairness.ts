/** What a flooded bot costs another one of its process, against one that is flooded in another process. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { addBots, benchDatabase, send, type BenchBot } from './bench-bots.ts'
import { WATCHED } from './loop-times.ts'
import { median, round, type Result } from './measure.ts'
import { startPosternForSeveral, type Process } from './processes.ts'

const ROUNDS = 6
const SENDS = 40
const BOTS = 3
/** Sends of the flooded bot at once. */
const FLOOD = 64
const SETTLE_MS = 400
const BETWEEN_MS = 20

/** A process with several bots: the first is measured, the last is flooded. */
interface Home {
  postern: Process
  bots: BenchBot[]
  loopTimes: string
}

/** Where the flood goes. */
type Where = 'nowhere' | 'beside' | 'here'

interface Times {
  ms: number[]
  loopMs: number[]
  /** Sends of the flooded bot a second. */
  flood: number[]
}

/**
 * One bot sends, in turns while nothing else does, while a bot of another process of the same kind is
 * flooded, and while one of its own process is.
 */
export async function fairnessJobs(): Promise<Result[]> {
  const root = mkdtempSync(join(tmpdir(), 'postern-fairness-'))
  try {
    await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
    await using stack = new AsyncDisposableStack()
    const homes: Record<'here' | 'beside', Home> = {
      here: await startHome(sandbox, join(root, 'here'), stack),
      beside: await startHome(sandbox, join(root, 'beside'), stack),
    }
    const times = new Map<Where, Times>()
    for (let turn = -1; turn < ROUNDS; turn++) {
      for (const where of ['nowhere', 'beside', 'here'] as const) {
        const some = await measure(homes, where)
        if (turn >= 0) times.set(where, joined(times.get(where), some))
      }
    }
    return [resultOf(times)]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function startHome(
  sandbox: Sandbox,
  root: string,
  stack: AsyncDisposableStack,
): Promise<Home> {
  const folder = join(root, 'bots.d')
  mkdirSync(folder, { recursive: true })
  const loopTimes = join(root, 'loop-times')
  writeFileSync(loopTimes, '')
  const bots = await addBots(sandbox, BOTS, folder)
  const { url: upstream } = sandbox
  const dataDir = join(root, 'data')
  const store = benchDatabase()
  const postern = await startPosternForSeveral({ upstream, folder, dataDir, loopTimes, store })
  return { postern: stack.use(postern), bots, loopTimes }
}

async function measure({ here, beside }: Record<'here' | 'beside', Home>, where: Where) {
  const flooded = where === 'nowhere' ? null : where === 'here' ? here : beside
  const end = new AbortController()
  let answered = 0
  const flood = async ({ postern, bots }: Home): Promise<void> => {
    const bot = bots.at(-1)
    while (bot !== undefined && !end.signal.aborted) {
      if ((await send(postern, bot)) === 201) answered++
    }
  }
  const startedAt = performance.now()
  const floods = flooded === null ? [] : Array.from({ length: FLOOD }, () => flood(flooded))
  await pause(SETTLE_MS)
  truncateSync(here.loopTimes)
  const ms: number[] = []
  for (let n = 0; n < SENDS; n++) {
    // in both, so that neither flood is of a bot that is alone in its process
    for (const home of [here, beside]) {
      const [bot] = home.bots
      if (bot === undefined) throw new Error('no bot')
      const sentAt = performance.now()
      await send(home.postern, bot, WATCHED)
      if (home === here) ms.push(performance.now() - sentAt)
      await pause(BETWEEN_MS)
    }
  }
  end.abort()
  const seconds = (performance.now() - startedAt) / 1000
  const loopMs = readFileSync(here.loopTimes, 'utf8').trim().split('\n').map(Number)
  await Promise.all(floods)
  return { ms, loopMs, flood: [answered / seconds] }
}

function joined(one: Times | undefined, other: Times): Times {
  if (one === undefined) return other
  return {
    ms: [...one.ms, ...other.ms],
    loopMs: [...one.loopMs, ...other.loopMs],
    flood: [...one.flood, ...other.flood],
  }
}

function resultOf(times: ReadonlyMap<Where, Times>): Result {
  const of = (where: Where, what: keyof Times): number => median(times.get(where)?.[what] ?? [])
  const against = (where: Where) => ({
    ms: round(of(where, 'ms')),
    ratio: round(of(where, 'ms') / of('here', 'ms')),
  })
  const [here, beside] = [of('here', 'loopMs'), of('beside', 'loopMs')]
  const share = Math.round(((here - beside) / of('beside', 'ms')) * 100)
  return {
    job: 'bots-fair',
    ms: round(of('here', 'ms')),
    vs: {
      'nobody is flooded': against('nowhere'),
      'flooded in another process': against('beside'),
    },
    notes: [
      `work of the loop during a send: ${round(of('nowhere', 'loopMs'))} ms, ${round(beside)} ms while another process is flooded, ${round(here)} ms while this one is: ${share} % of a send more`,
      `sends of the flooded bot: ${round(of('here', 'flood'))} a second, ${round(of('beside', 'flood'))} in another process; load of the machine ${round(loadavg()[0] ?? Number.NaN)}`,
    ],
  }
}
