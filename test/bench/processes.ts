/** Servers in processes of their own, so that each has the loop for itself. */
import { fork } from 'node:child_process'
import { spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Process extends AsyncDisposable {
  /** Where it listens. */
  url: string
  /** Where a sidecar has its admin door. */
  admin?: string
  pid: number
  /** From its start until it was up. */
  readyMs: number
}

const fileOf = (path: string): string => new URL(path, import.meta.url).pathname

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** @param until what answers 200 once it is up */
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
  while (!(await answers(o.until))) {
    if (child.exitCode !== null) throw new Error(`${args[0]} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    url: o.url,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    async [Symbol.asyncDispose]() {
      process.off('exit', end)
      child.kill('SIGTERM')
      // one that was stopped takes the other signal when it goes on
      child.kill('SIGCONT')
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once('close', resolve))
    },
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

/** What answers everything with the same few bytes of JSON, as fast as Node can. */
export async function startStub(): Promise<Process> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  return await startNode([fileOf('stub.ts'), String(port)], { url, until: url })
}

/** A proxy of @fastify/http-proxy, with nothing on it. */
export const startHttpProxy = async (upstream: string): Promise<Process> =>
  await startProxy('http-proxy.ts', upstream)

/** The least that a proxy on Node can be. */
export const startBareProxy = async (upstream: string): Promise<Process> =>
  await startProxy('bare-proxy.ts', upstream)

/** Fastify and undici and nothing else. @param port a free one when not given */
export const startBareServer = async (upstream: string, port?: number): Promise<Process> =>
  await startProxy('bare-server.ts', upstream, { port, until: '/readyz' })

async function startProxy(
  file: string,
  upstream: string,
  o: { port?: number | undefined; until?: string } = {},
): Promise<Process> {
  const port = o.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  return await startNode([fileOf(file), String(port), upstream], {
    url,
    until: `${url}${o.until ?? ''}`,
  })
}

/**
 * A sidecar as `postern run` starts it, with its settings as they are by default.
 * @param o `main` the file to run, `bin/postern.cjs` of this clone when not given; `dataDir` a folder of its own,
 *   which goes with it, when not given; `store` where it is not in that folder; `statementCounts` a file that
 *   gets what `statement-counts.ts` writes
 */
export async function startPostern(o: {
  upstream: string
  token: string
  publish: boolean
  main?: string
  dataDir?: string
  port?: number
  store?: { url: string; schema: string }
  statementCounts?: string
}): Promise<Process> {
  const watch = o.statementCounts === undefined ? [] : ['--import', fileOf('statement-counts.ts')]
  const [port, adminPort] = [o.port ?? (await freePort()), await freePort()]
  const folder = o.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'pb-')) : null
  const admin = `http://127.0.0.1:${adminPort}`
  const sidecar = await startNode([...watch, o.main ?? fileOf('../../bin/postern.cjs'), 'run'], {
    url: `http://127.0.0.1:${port}`,
    until: `${admin}/${o.publish ? 'readyz' : 'healthz'}`,
    env: {
      POSTERN_UPSTREAM_URL: o.upstream,
      POSTERN_BOT_TOKEN: o.token,
      POSTERN_KEY_PASSPHRASE: 'bench',
      POSTERN_KEY_PUBLISH: String(o.publish),
      POSTERN_LISTEN_PORT: String(port),
      POSTERN_ADMIN_PORT: String(adminPort),
      POSTERN_DATA_DIR: o.dataDir ?? join(folder ?? '', 'data'),
      ...(o.store && { POSTERN_STORE_URL: o.store.url, POSTERN_STORE_SCHEMA: o.store.schema }),
      ...(o.statementCounts !== undefined && { STATEMENT_COUNTS: o.statementCounts }),
    },
  })
  return {
    ...sidecar,
    admin,
    async [Symbol.asyncDispose]() {
      await sidecar[Symbol.asyncDispose]()
      if (folder !== null) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A sidecar for several bots, as `postern run` starts it, until all are ready.
 * @param o `folder` of the bots' files; `dataDir` of all; `loopTimes` a file that gets what
 *   `loop-times.ts` writes; `store` the database of their stores, and how the names of their schemas begin
 */
export async function startPosternForSeveral(o: {
  upstream: string
  folder: string
  dataDir: string
  loopTimes?: string
  store?: { url: string; schema: string } | undefined
}): Promise<Process> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const watch = o.loopTimes === undefined ? [] : ['--import', fileOf('loop-times.ts')]
  return await startNode([...watch, fileOf('../../bin/postern.cjs'), 'run'], {
    url: `http://127.0.0.1:${port}`,
    until: `http://127.0.0.1:${adminPort}/readyz`,
    env: {
      POSTERN_UPSTREAM_URL: o.upstream,
      POSTERN_BOTS: o.folder,
      POSTERN_KEY_PASSPHRASE: 'bench',
      POSTERN_LISTEN_PORT: String(port),
      POSTERN_ADMIN_PORT: String(adminPort),
      POSTERN_DATA_DIR: o.dataDir,
      POSTERN_LOG_LEVEL: 'warn',
      ...(o.store && { POSTERN_STORE_URL: o.store.url, POSTERN_STORE_SCHEMA: o.store.schema }),
      ...(o.loopTimes !== undefined && { LOOP_TIMES: o.loopTimes }),
    },
  })
}

/** A program of this folder that its parent sends messages to. */
export interface Child extends AsyncDisposable {
  pid: number
  /** The next message from it. */
  hears(): Promise<unknown>
  /** Sends it a message. @returns its answer */
  ask(message: object): Promise<unknown>
}

/** A file of this folder as a process. It ends by itself when nobody is connected any more. */
export function startChild(file: string): Child {
  const child = fork(fileOf(file), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = Promise.withResolvers<never>()
  const exited = once(child, 'exit').then(([code]) =>
    ended.reject(new Error(`${file} ended with ${code}`)),
  )
  ended.promise.catch(() => {})
  const hears = async (): Promise<unknown> => {
    const answer = once(child, 'message').then(([message]) => message as unknown)
    return await Promise.race([answer, ended.promise])
  }
  return {
    pid: child.pid ?? 0,
    hears,
    ask: async (message) => {
      const answer = hears()
      child.send(message)
      return await answer
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
