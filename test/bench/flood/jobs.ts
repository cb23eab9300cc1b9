import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as elapsed } from 'node:timers/promises'
import { Pool } from 'undici'
import { makeKeys, PASSPHRASE } from '../../bounds/scene.ts'
import {
  forgetPeak,
  peakBytes,
  startSidecarProcess,
  untilReady,
  type SidecarProcess,
} from '../../support/sidecar-process.ts'
import { KINDS } from './kinds.ts'
import type { Lane, Lie, ServiceFacts, ToService } from './words.ts'
import {
  median,
  resultOf,
  round,
  slowest,
  temporaryFolder,
  timeOf,
  type Result,
} from '../measure.ts'
import { startChild } from '../processes.ts'

/** The active key and five that are retained. */
const KEYS = 6
const ROUNDS = 3
const ROUND_MS = 1500
/** Between two calls, so that they neither queue nor keep a core warm. */
const PAUSE_MS = 5
const MIB = 2 ** 20
const UNRELATED = '/commands'
const QUIET: [string, Lie] = [
  `GET ${UNRELATED}`,
  { kind: 'text', text: '{"ok":true,"result":{"scope":"default","commands":[]}}' },
]

/**
 * An unrelated call during each kind of flood, against the same call with nothing going on. The
 * service, the sidecar, the bot that suffers the flood and the one that measures are a process each.
 * They share the cores and the service: what that alone costs, the same call shows through a second
 * sidecar that nobody floods, asked in turn with the first.
 */
export async function floodJobs(): Promise<Result[]> {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(temporaryFolder()).path
  const made = await makeKeys(join(home, 'data'), KEYS)
  const service = stack.use(startChild('flood/service.ts'))
  const facts = (await service.hears()) as ServiceFacts
  const tell = async (message: ToService): Promise<void> => void (await service.ask(message))
  const [published] = made
  if (published === undefined) throw new Error('no key was made')
  const { certificate: publicKey, fingerprint } = published
  await tell({ setKey: { publicKey, fingerprint } })
  await using bystander = await started(facts, home, 'bystander')
  const certificates = made.map(({ certificate }) => certificate)
  const results: Result[] = []
  for (const [kind, make] of Object.entries(KINDS)) {
    const { lies, lanes } = await make({ facts, certificates })
    await tell({ lies: { routes: [QUIET] } })
    results.push(
      await measure({
        job: `unrelated-call-during-flood: ${kind}`,
        facts,
        home,
        bystander,
        lanes,
        lie: () => tell({ lies: { ...lies, routes: [QUIET, ...lies.routes] } }),
      }),
    )
  }
  return results
}

/** One row, with a sidecar of its own. */
async function measure(o: {
  job: string
  facts: ServiceFacts
  home: string
  bystander: SidecarProcess
  lanes: Lane[]
  lie: () => Promise<void>
}): Promise<Result> {
  await using sidecar = await started(o.facts, o.home, 'flooded')
  await using bot = startChild('flood/bot.ts')
  await using pool = poolTo(sidecar.bot)
  await using besidePool = poolTo(o.bystander.bot)
  await o.lie()
  const both = [caller(pool, o.facts.token), caller(besidePool, o.facts.token)] as const
  await calls(both)
  const times = { quiet: [[], []] as Times, flooded: [[], []] as Times }
  const peaks = { quiet: 0, flooded: 0 }
  const watched = async (which: 'quiet' | 'flooded'): Promise<void> => {
    forgetPeak(sidecar.pid)
    for (const [index, taken] of (await calls(both)).entries()) times[which][index]?.push(...taken)
    // what a flood took is given back by and by
    if (which === 'flooded' || peaks.quiet === 0) {
      peaks[which] = Math.max(peaks[which], peakBytes(sidecar.pid))
    }
  }
  for (let turn = 0; turn < ROUNDS; turn++) {
    await watched('quiet')
    await bot.ask({ go: { url: sidecar.bot, token: o.facts.token, lanes: o.lanes } })
    await watched('flooded')
    await bot.ask({ stop: true })
  }
  const [quiet, quietBeside] = times.quiet.map(median) as [number, number]
  const [flooded, floodedBeside] = times.flooded.map(median) as [number, number]
  const result = resultOf(o.job, quiet, { 'during-flood': flooded })
  const beside = { ms: round(floodedBeside), ratio: round(floodedBeside / quietBeside) }
  return {
    ...result,
    vs: { ...result.vs, 'beside-flood': beside },
    slowest: {
      ours: slowest(times.quiet[0]),
      'during-flood': slowest(times.flooded[0]),
      'beside-flood': slowest(times.flooded[1]),
    },
    memory: {
      ours: Math.round(peaks.quiet / MIB),
      'during-flood': Math.round(peaks.flooded / MIB),
    },
  }
}

/** Of the flooded sidecar and of the other, ms. */
type Times = [number[], number[]]
type Call = () => Promise<void>

/** How long each call of a while takes, one through each sidecar in turn. */
async function calls(both: readonly [Call, Call]): Promise<Times> {
  const times: Times = [[], []]
  const untilMs = performance.now() + ROUND_MS
  while (performance.now() < untilMs) {
    for (const [index, call] of both.entries()) {
      times[index]?.push(await timeOf(call))
      await elapsed(PAUSE_MS)
    }
  }
  return times
}

function poolTo(url: string): Pool & AsyncDisposable {
  const pool = new Pool(url, { connections: 1 })
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.destroy() })
}

function caller(pool: Pool, token: string): Call {
  const headers = { authorization: `Bearer ${token}` }
  return async () => {
    const answer = await pool.request({ method: 'GET', path: `/bot/v1${UNRELATED}`, headers })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`${UNRELATED}: ${answer.statusCode}`)
  }
}

/** A sidecar that is ready, over a copy of the store. */
async function started(facts: ServiceFacts, home: string, name: string): Promise<SidecarProcess> {
  const dataDir = join(home, name)
  rmSync(dataDir, { recursive: true, force: true })
  cpSync(join(home, 'data'), dataDir, { recursive: true })
  const env = {
    POSTERN_UPSTREAM_URL: facts.url,
    POSTERN_BOT_TOKEN: facts.token,
    POSTERN_KEY_PASSPHRASE: PASSPHRASE,
    POSTERN_DATA_DIR: dataDir,
    POSTERN_LOG_LEVEL: 'info',
  }
  const sidecar = await startSidecarProcess({ cwd: home, env })
  await untilReady(sidecar.admin)
  return sidecar
}
