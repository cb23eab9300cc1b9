import { askAll, Connection } from './load.ts'
import { compare, median, round, type Result } from './measure.ts'
import { startBareProxy, startHttpProxy, startPostern, startStub } from './processes.ts'

const TOKEN = 'bench_1.0123456789012345678901234567890123456789012'
const PATH = '/bot/v1/commands'
const CONNECTIONS = 16
const REQUESTS = 3000
const ROUNDS = 9
/** As many rounds, until what runs for a year has been compiled. */
const WARMUPS = 12
const LATENCIES = 400

/** What the sidecar takes for a call that it passes on, beside the usual proxy plugin. */
export async function passthroughJobs(): Promise<Result[]> {
  await using stub = await startStub()
  await using postern = await startPostern({ upstream: stub.url, token: TOKEN, publish: false })
  await using httpProxy = await startHttpProxy(stub.url)
  await using bare = await startBareProxy(stub.url)
  const urls = {
    direct: stub.url,
    ours: postern.url,
    'fastify-http-proxy': httpProxy.url,
    floor: bare.url,
  }
  return [await many(urls), await added(urls)]
}

interface Urls {
  direct: string
  ours: string
  'fastify-http-proxy': string
  /** The least that a proxy on Node can be. */
  floor: string
}

/** Milliseconds for one request, of many over 16 connections. */
async function many(urls: Urls): Promise<Result> {
  using stack = new DisposableStack()
  const asking = (url: string): (() => Promise<void>) => {
    const opened: Connection[] = []
    for (let count = 0; count < CONNECTIONS; count++) {
      opened.push(stack.use(new Connection(url, { path: PATH, token: TOKEN })))
    }
    return () => askAll(opened, REQUESTS)
  }
  const result = await compare({
    job: 'passthrough',
    ours: { run: asking(urls.ours) },
    peers: [
      { name: 'fastify-http-proxy', run: asking(urls['fastify-http-proxy']) },
      { name: 'floor', run: asking(urls.floor) },
      { name: 'direct', run: asking(urls.direct) },
    ],
    rounds: ROUNDS,
    warmups: WARMUPS,
  })
  const each = (ms: number): number => round(ms / REQUESTS)
  const vs = Object.entries(result.vs).map(([name, { ms, ratio }]) => [
    name,
    { ms: each(ms), ratio },
  ])
  return { job: result.job, ms: each(result.ms), vs: Object.fromEntries(vs) as Result['vs'] }
}

/** What is added to the median time of a single call, one after the other. */
async function added(urls: Urls): Promise<Result> {
  using stack = new DisposableStack()
  const times = new Map<string, number[]>()
  const connections = new Map<string, Connection>()
  for (const [name, url] of Object.entries(urls)) {
    times.set(name, [])
    connections.set(name, stack.use(new Connection(url, { path: PATH, token: TOKEN })))
  }
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const [name, connection] of connections) {
      for (let count = 0; count < LATENCIES; count++) {
        const startedAt = performance.now()
        await connection.ask()
        times.get(name)?.push(performance.now() - startedAt)
      }
    }
  }
  const direct = median(times.get('direct') ?? [])
  const addedBy = (name: keyof Urls): number => median(times.get(name) ?? []) - direct
  const ms = addedBy('ours')
  const vs = (['fastify-http-proxy', 'floor'] as const).map((name) => {
    const theirs = addedBy(name)
    return [name, { ms: round(theirs), ratio: round(theirs / ms) }] as const
  })
  return { job: 'passthrough-added', ms: round(ms), vs: Object.fromEntries(vs) }
}
