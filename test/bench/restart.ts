import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox } from '../../src/sandbox/create.ts'
import { median, round, type Result } from './measure.ts'
import { installPackage } from './package.ts'
import { freePort, startBareServer, startPostern, type Process } from './processes.ts'

const ROUNDS = 5
/** A bot sends ten times a second, and gives a send up after this. */
const BETWEEN_MS = 100
const PATIENCE_MS = 1000
const TRAFFIC_MS = 1500

/**
 * The longest time between two answered sends of a bot that sends ten times a second while what
 * stands before the service is stopped and started again.
 */
export async function restartJobs(): Promise<Result[]> {
  using installed = installPackage()
  await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
  const dataDir = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  using _folder = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) }
  const chatId = sandbox.home.readableGroup
  const body = JSON.stringify({ chatId, text: 'hello' })
  const [port, barePort] = [await freePort(), await freePort()]
  const { url: upstream, token } = sandbox
  const made = { main: installed.main, dataDir: join(dataDir, 'data'), publish: true }
  const ours = () => startPostern({ ...made, upstream, token, port })
  const bare = () => startBareServer(upstream, barePort)
  const gaps: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
  for (let turn = 0; turn < ROUNDS; turn++) {
    gaps.bare.push(await gapOf(bare, { body, token }))
    gaps.ours.push(await gapOf(ours, { body, token }))
  }
  const [ms, theirs] = [median(gaps.ours), median(gaps.bare)]
  return [
    {
      job: 'restart',
      ms: round(ms),
      vs: { 'fastify and undici': { ms: round(theirs), ratio: round(theirs / ms) } },
    },
  ]
}

async function gapOf(
  start: () => Promise<Process>,
  { body, token }: { body: string; token: string },
): Promise<number> {
  let running = await start()
  const { url } = running
  const stop = new AbortController()
  const traffic = longestGap(url, { body, token, signal: stop.signal })
  await pause(TRAFFIC_MS)
  await running[Symbol.asyncDispose]()
  running = await start()
  await pause(TRAFFIC_MS)
  stop.abort()
  const gap = await traffic
  await running[Symbol.asyncDispose]()
  return gap
}

/** Sends until the signal. @returns the longest time between two answers with 201, ms */
async function longestGap(
  url: string,
  { body, token, signal }: { body: string; token: string; signal: AbortSignal },
): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sends: Promise<void>[] = []
  let [last, longest] = [performance.now(), 0]
  const send = async (): Promise<void> => {
    const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(PATIENCE_MS) }
    const answer = await fetch(`${url}/bot/v1/messages`, request).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
    if (answer?.status !== 201) return
    const nowMs = performance.now()
    longest = Math.max(longest, nowMs - last)
    last = nowMs
  }
  while (!signal.aborted) {
    sends.push(send())
    await pause(BETWEEN_MS)
  }
  await Promise.all(sends)
  return longest
}
