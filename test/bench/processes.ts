/** Servers in processes of their own, so that each has the loop for itself. */
import { once } from 'node:events'
import { spawn } from '../support/programs.ts'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from './measure.ts'

export interface Process extends AsyncDisposable {
  /** Where it listens. */
  url: string
  /** Where a sidecar has its admin door. */
  admin?: string
  pid: number
  /** From its start until it was up. */
  readyMs: number
}

/** Until a process is up, or has ended: it may make a thousand keys. */
const LATEST_MS = 180_000
/** A probe may reach a process that accepts, and answers nobody any more. */
const PROBE_MS = 5000

const fileOf = (path: string): string => new URL(path, import.meta.url).pathname

/** `bin/postern.cjs` of this clone, or of the checkout beside which it is measured. */
export const MAIN = process.env['BENCH_MAIN'] ?? fileOf('../../bin/postern.cjs')

const given = new Set<number>()

/** A port that is free, and was not given before: whoever has that one may not listen yet. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  if (given.has(port)) return await freePort()
  given.add(port)
  return port
}

/**
 * @param until what answers 200 once it is up
 * @throws Error when it ends before, or is not up in time
 */
async function startNode(
  args: string[],
  o: { url: string; env?: Record<string, string>; until: string },
): Promise<Process> {
  const { PATH = '' } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME: tmpdir(), ...o.env },
    stdio: 'ignore',
  })
  // Whoever fails before it disposes of this leaves nothing running.
  const end = (): void => void child.kill()
  process.once('exit', end)
  const latestMs = startedAt + LATEST_MS
  while (!(await answers(o.until))) {
    const { exitCode, signalCode } = child
    const isLate = performance.now() > latestMs
    if (exitCode !== null || signalCode !== null || isLate) {
      child.kill('SIGKILL')
      const how = isLate ? 'was not up in time' : `ended with ${exitCode ?? signalCode}`
      throw new Error(`${args[0]} ${how}`)
    }
    await pause(10)
  }
  return {
    url: o.url,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    async [Symbol.asyncDispose]() {
      process.off('exit', end)
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      // one that was stopped takes the other signal when it goes on
      child.kill('SIGCONT')
      const kill = setTimeout(() => child.kill('SIGKILL'), LATEST_MS)
      await once(child, 'close')
      clearTimeout(kill)
    },
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

/** What answers everything with the same few bytes of JSON, as fast as Node can. */
export const startStub = (): Promise<Process> => startServer('stub.ts')

/** A proxy of @fastify/http-proxy, with nothing on it. */
export const startHttpProxy = (upstream: string): Promise<Process> =>
  startServer('http-proxy.ts', { upstream })

/** The least that a proxy on Node can be. */
export const startBareProxy = (upstream: string): Promise<Process> =>
  startServer('bare-proxy.ts', { upstream })

/** Fastify and undici and nothing else. */
export const startBareServer = (upstream: string, port?: number): Promise<Process> =>
  startServer('bare-server.ts', { upstream, port, until: '/readyz' })

async function startServer(
  file: string,
  o: { upstream?: string; port?: number | undefined; until?: string } = {},
): Promise<Process> {
  const { upstream = '', until = '', port = await freePort() } = o
  const url = `http://127.0.0.1:${port}`
  return await startNode([fileOf(file), String(port), upstream], { url, until: url + until })
}

/** Where a sidecar has its stores, when not in folders: a database, and how the names of its schemas begin. */
export interface StorePlace {
  url: string
  schema: string
}

/**
 * A sidecar as `postern run` starts it, with its settings as they are by default.
 * @param o `main` the file to run, `MAIN` when not given; `dataDir` a folder of its own,
 *   which goes with it, when not given
 */
export async function startPostern(o: {
  upstream: string
  token: string
  publish: boolean
  main?: string
  dataDir?: string
  port?: number
  store?: StorePlace
}): Promise<Process> {
  const { dataDir } = o
  const folder = dataDir === undefined ? temporaryFolder() : null
  const sidecar = await startSidecar({
    ...o,
    dataDir: dataDir ?? join(folder?.path ?? '', 'data'),
    until: o.publish ? 'readyz' : 'healthz',
    env: { POSTERN_BOT_TOKEN: o.token, POSTERN_KEY_PUBLISH: String(o.publish) },
  })
  return {
    ...sidecar,
    async [Symbol.asyncDispose]() {
      await sidecar[Symbol.asyncDispose]()
      folder?.[Symbol.dispose]()
    },
  }
}

/**
 * A sidecar for several bots, as `postern run` starts it, until all are ready.
 * @param o `folder` of the bots' files; `dataDir` of all
 */
export async function startPosternForSeveral(o: {
  upstream: string
  folder: string
  dataDir: string
  store?: StorePlace | undefined
}): Promise<Process> {
  return await startSidecar({ ...o, env: { POSTERN_BOTS: o.folder, POSTERN_LOG_LEVEL: 'warn' } })
}

/** @param o `until` a path of the admin door */
async function startSidecar(o: {
  upstream: string
  dataDir: string
  main?: string | undefined
  port?: number
  store?: StorePlace | undefined
  until?: string
  env: Record<string, string>
}): Promise<Process> {
  const [port, adminPort] = [o.port ?? (await freePort()), await freePort()]
  const admin = `http://127.0.0.1:${adminPort}`
  const args = [o.main ?? MAIN, 'run']
  const env = {
    POSTERN_UPSTREAM_URL: o.upstream,
    POSTERN_KEY_PASSPHRASE: 'bench',
    POSTERN_LISTEN_PORT: String(port),
    POSTERN_ADMIN_PORT: String(adminPort),
    POSTERN_DATA_DIR: o.dataDir,
    ...(o.store && { POSTERN_STORE_URL: o.store.url, POSTERN_STORE_SCHEMA: o.store.schema }),
    ...o.env,
  }
  const url = `http://127.0.0.1:${port}`
  const { until = 'readyz' } = o
  return { ...(await startNode(args, { url, env, until: `${admin}/${until}` })), admin }
}
