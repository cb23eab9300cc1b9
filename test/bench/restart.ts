import { once } from 'node:events'
import { connect } from 'node:net'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { median, resultOf, round, temporaryFolder, type Result } from './measure.ts'
import { installPackage } from './package.ts'
import { freePort, startBareServer, startPostern, type Process } from './processes.ts'

const ROUNDS = 9
/** A bot sends ten times a second, and gives a send up after this. */
const BETWEEN_MS = 100
const PATIENCE_MS = 1000
const TRAFFIC_MS = 1500
const LISTENS_EVERY_MS = 3

/** A gap, and its parts one after the other, ms. */
interface Gap {
  whole: number
  'since the last answer': number
  'SIGTERM until closed': number
  'until it listens': number
  'until a send is answered': number
}

/**
 * The longest time between two answered sends of a bot that sends ten times a second while what
 * stands before the service is stopped and started again.
 */
export async function restartJobs(): Promise<Result[]> {
  using installed = installPackage()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  using folder = temporaryFolder()
  const chatId = sandbox.home.readableGroup
  const body = JSON.stringify({ chatId, text: 'hello' })
  const [port, barePort] = [await freePort(), await freePort()]
  const { url: upstream, token } = sandbox
  const made = { main: installed.main, dataDir: join(folder.path, 'data'), publish: true }
  const ours = () => startPostern({ ...made, upstream, token, port })
  const bare = () => startBareServer(upstream, barePort)
  const gaps: Record<'ours' | 'bare', Gap[]> = { ours: [], bare: [] }
  for (let turn = 0; turn < ROUNDS; turn++) {
    gaps.bare.push(await gapOf(bare, { body, token }))
    gaps.ours.push(await gapOf(ours, { body, token }))
  }
  const of = (who: 'ours' | 'bare', part: keyof Gap): number =>
    median(gaps[who].map((gap) => gap[part]))
  const parts = (Object.keys(gaps.ours[0] ?? {}) as (keyof Gap)[]).slice(1)
  const notes = parts.map(
    (part) => `${part}: ${round(of('ours', part))} ms, theirs ${round(of('bare', part))} ms`,
  )
  notes.push(`load of the machine ${round(loadavg()[0] ?? Number.NaN)}`)
  const peers = { 'fastify and undici': of('bare', 'whole') }
  return [resultOf('restart', of('ours', 'whole'), peers, { notes })]
}

async function gapOf(
  start: () => Promise<Process>,
  { body, token }: { body: string; token: string },
): Promise<Gap> {
  let running = await start()
  const { url } = running
  const stop = new AbortController()
  const traffic = longestGap(url, { body, token, signal: stop.signal })
  await pause(TRAFFIC_MS)
  const stoppedMs = performance.now()
  await running[Symbol.asyncDispose]()
  const closedMs = performance.now()
  const starting = start()
  const listensMs = await firstAccepted(url)
  running = await starting
  await pause(TRAFFIC_MS)
  stop.abort()
  const { fromMs, toMs } = await traffic
  await running[Symbol.asyncDispose]()
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
    await pause(LISTENS_EVERY_MS)
  }
}

/** Sends until the signal. @returns when the longest time without an answer with 201 began and ended */
async function longestGap(
  url: string,
  { body, token, signal }: { body: string; token: string; signal: AbortSignal },
): Promise<{ fromMs: number; toMs: number }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sends: Promise<void>[] = []
  let last = performance.now()
  let longest = { fromMs: last, toMs: last }
  const send = async (): Promise<void> => {
    const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) }
    const answer = await fetch(`${url}/bot/v1/messages`, request).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
    if (answer?.status !== 201) return
    const nowMs = performance.now()
    if (nowMs - last > longest.toMs - longest.fromMs) longest = { fromMs: last, toMs: nowMs }
    last = nowMs
  }
  while (!signal.aborted) {
    sends.push(send())
    await pause(BETWEEN_MS)
  }
  await Promise.all(sends)
  return longest
}
