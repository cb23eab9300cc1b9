import { setTimeout as pause } from 'node:timers/promises'
import { askAll, Connection } from './load.ts'
import { compare, median, resultOf, timeOf, type Result } from './measure.ts'
import { cpuMsOf } from './package.ts'
import { startBareProxy, startHttpProxy, startPostern, startStub } from './processes.ts'
import type { Process } from './processes.ts'

const TOKEN = 'bench_1.0123456789012345678901234567890123456789012'
const PATH = '/bot/v1/commands'
const CONNECTIONS = 16
const REQUESTS = 3000
const ROUNDS = 9
/** As many rounds, until what runs for a year has been compiled. */
const WARMUPS = 12
/** 600 calls a minute, the most that the service allows a bot. */
const PACED_CALLS = 200
const PACE_MS = 100

/** `floor` is the least that a proxy on Node can be, `direct` the service itself. */
type Name = 'ours' | 'fastify-http-proxy' | 'floor' | 'direct'
type Contenders = Record<Name, Process>

/** What the sidecar takes for a call that it passes on, beside the usual proxy plugin. */
export async function passthroughJobs(): Promise<Result[]> {
  await using direct = await startStub()
  const { url: upstream } = direct
  await using ours = await startPostern({ upstream, token: TOKEN, publish: false })
  await using httpProxy = await startHttpProxy(upstream)
  await using floor = await startBareProxy(upstream)
  const contenders = { ours, 'fastify-http-proxy': httpProxy, floor, direct }
  return [...(await many(contenders)), await added(contenders)]
}

/** Of many requests over 16 connections: time and processor time for one. */
async function many(contenders: Contenders): Promise<Result[]> {
  using stack = new DisposableStack()
  const cpu = new Map<Name, number[]>()
  const asking = (name: Name) => {
    const { url, pid } = contenders[name]
    const opened: Connection[] = []
    for (let count = 0; count < CONNECTIONS; count++) {
      opened.push(stack.use(new Connection(url, { path: PATH, token: TOKEN })))
    }
    const spent: number[] = []
    cpu.set(name, spent)
    return async () => {
      const beforeMs = cpuMsOf(pid)
      await askAll(opened, REQUESTS)
      spent.push(cpuMsOf(pid) - beforeMs)
    }
  }
  const peers = (['fastify-http-proxy', 'floor', 'direct'] as const).map((name) => ({
    name,
    run: asking(name),
  }))
  const ours = { run: asking('ours') }
  const timed = await compare({ job: 'passthrough', ours, peers, rounds: ROUNDS, warmups: WARMUPS })
  const each = Object.entries(timed.vs).map(([name, { ms }]) => [name, ms / REQUESTS])
  const cpuOf = (name: Name): number => median((cpu.get(name) ?? []).slice(WARMUPS)) / REQUESTS
  return [
    resultOf(
      'passthrough',
      timed.ms / REQUESTS,
      Object.fromEntries(each) as Record<string, number>,
    ),
    against('passthrough-cpu', cpuOf),
  ]
}

/** What is added to the median time of a call, at 600 calls a minute. */
async function added(contenders: Contenders): Promise<Result> {
  using stack = new DisposableStack()
  const lanes = (Object.keys(contenders) as Name[]).map((name) => {
    const connection = stack.use(new Connection(contenders[name].url, { path: PATH, token: TOKEN }))
    return { name, connection, times: [] as number[] }
  })
  for (let count = 0; count < PACED_CALLS; count++) {
    for (const { connection, times } of lanes) {
      await pause(PACE_MS / lanes.length)
      times.push(await timeOf(async () => void (await connection.ask())))
    }
  }
  const medianOf = (name: Name): number =>
    median(lanes.find((lane) => lane.name === name)?.times ?? [])
  return against('passthrough-added', (name) => medianOf(name) - medianOf('direct'))
}

function against(job: string, msOf: (name: Name) => number): Result {
  const peers = (['fastify-http-proxy', 'floor'] as const).map(
    (name) => [name, msOf(name)] as const,
  )
  return resultOf(job, msOf('ours'), Object.fromEntries(peers))
}
