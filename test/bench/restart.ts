import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { send } from './bench-bots.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { installPackage } from './package.ts'
import { freePort, startBareServer, startPostern, type Process } from './processes.ts'

const PEER = 'fastify and undici'
const ROUNDS = 9
/** A bot sends ten times a second. */
const BETWEEN_MS = 100
const TRAFFIC_MS = 1000
const PROBE_MS = 3

/** A gap, and its parts one after the other, ms. */
interface Gap {
  whole: number
  'since the last answer': number
  'SIGTERM until closed': number
  'until it listens': number
  'until a send is answered': number
}

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
  const [, ...parts] = Object.keys(ours[0] ?? {}) as (keyof Gap)[]
  const notes = parts.map((part) => `${part}: ${of(ours, part)} ms, theirs ${of(theirs, part)} ms`)
  return [resultOf('restart', of(ours, 'whole'), { [PEER]: of(theirs, 'whole') }, { notes })]
}

async function gapOf(start: () => Promise<Process>, bot: Parameters<typeof send>[1]): Promise<Gap> {
  const first = await start()
  const answered: number[] = []
  const traffic = setInterval(() => {
    void send(first, bot).then(
      (status) => void (status === 201 && answered.push(performance.now())),
      () => {},
    )
  }, BETWEEN_MS)
  using _traffic = { [Symbol.dispose]: () => clearInterval(traffic) }
  await pause(TRAFFIC_MS)
  const stoppedMs = performance.now()
  await first[Symbol.asyncDispose]()
  const closedMs = performance.now()
  const starting = start()
  const listensMs = await firstAccepted(first.url)
  await using _second = await starting
  await pause(TRAFFIC_MS)
  const fromMs = answered.findLast((atMs) => atMs < closedMs) ?? Number.NaN
  const toMs = answered.find((atMs) => atMs > closedMs) ?? Number.NaN
  return {
    whole: toMs - fromMs,
    'since the last answer': stoppedMs - fromMs,
    'SIGTERM until closed': closedMs - stoppedMs,
    'until it listens': listensMs - closedMs,
    'until a send is answered': toMs - listensMs,
  }
}

/** @returns when a connection was accepted */
async function firstAccepted(url: string): Promise<number> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return performance.now()
    await pause(PROBE_MS)
  }
}
