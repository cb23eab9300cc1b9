import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { send, type BenchBot } from './bench-bots.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { installPackage } from './package.ts'
import { freePort, startBareServer, startPostern, type Process } from './processes.ts'

const PEER = 'fastify and undici'
const ROUNDS = 9
/** A bot sends ten times a second. */
const BETWEEN_MS = 100
const TRAFFIC_MS = 1000

/** The longest time between two answered sends of a bot while its sidecar is stopped and started. */
export async function restartJobs(): Promise<Result[]> {
  using installed = installPackage()
  using folder = temporaryFolder()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const [port, barePort] = [await freePort(), await freePort()]
  const { url: upstream, token } = sandbox
  const dataDir = join(folder.path, 'data')
  const bot = { token, chatId: sandbox.home.readableGroup }
  const make = { main: installed.main, dataDir, publish: true, upstream, token, port }
  const ours: Gap[] = []
  const theirs: Gap[] = []
  for (let turn = 0; turn < ROUNDS; turn++) {
    theirs.push(await gapOf(() => startBareServer(upstream, barePort), bot))
    ours.push(await gapOf(() => startPostern(make), bot))
  }
  const of = (gaps: Gap[], part: keyof Gap): number => round(median(gaps.map((gap) => gap[part])))
  const notes = (['stop', 'start'] as const).map(
    (part) => `${part}: ${of(ours, part)} ms, theirs ${of(theirs, part)} ms`,
  )
  return [resultOf('restart', of(ours, 'whole'), { [PEER]: of(theirs, 'whole') }, { notes })]
}

/** ms: until the process has ended, until another is ready, and between the answers around both. */
type Gap = Record<'stop' | 'start' | 'whole', number>

async function gapOf(start: () => Promise<Process>, bot: BenchBot): Promise<Gap> {
  const first = await start()
  const answered: number[] = []
  const traffic = setInterval(() => {
    send(first, bot).then(
      (status) => void (status === 201 && answered.push(performance.now())),
      () => {},
    )
  }, BETWEEN_MS)
  using _traffic = { [Symbol.dispose]: () => clearInterval(traffic) }
  await pause(TRAFFIC_MS)
  const stoppedMs = performance.now()
  await first[Symbol.asyncDispose]()
  const endedMs = performance.now()
  await using second = await start()
  await pause(TRAFFIC_MS)
  const from = answered.findLast((atMs) => atMs < endedMs) ?? Number.NaN
  const to = answered.find((atMs) => atMs > endedMs) ?? Number.NaN
  return { stop: endedMs - stoppedMs, start: second.readyMs, whole: to - from }
}
