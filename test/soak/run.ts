/**
 * Traffic for long: a sidecar as a process of its own, the sandbox, people with phones, the echo
 * bot. First as fast as it goes (`--messages`), then at an even pace in real time (`--minutes`).
 * Prints what the sidecar uses; ends with 1 only when a message was lost or altered.
 *
 * npm run soak -- --messages 3600 --minutes 2
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runEchoBot } from '../../src/cli/echo-bot.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { startSidecar } from '../support/sidecar.ts'
import { drift, sample, type Sample } from './samples.ts'

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '3600' },
    minutes: { type: 'string', default: '2' },
  },
})
const messages = Number(values.messages)
const minutes = Number(values.minutes)
const SAMPLE_MS = 1000
const PACE_MS = 250
const ANSWER_MS = 60_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

await using sandbox = await createSandbox({ rates: 'off', transcriptCalls: 100 })
await using sidecar = await startSidecar({
  upstream: sandbox.url,
  env: { POSTERN_BOT_TOKEN: sandbox.token, POSTERN_LOG_LEVEL: 'info' },
})
await sidecar.whenReady()
const stop = new AbortController()
const { token } = sandbox
const waiting = new Map<string, () => void>()
const bot = runEchoBot({
  url: sidecar.url,
  token,
  signal: stop.signal,
  onMessage: ({ text }) => waiting.get(text)?.(),
}).catch((error: unknown) => {
  if (!stop.signal.aborted) print(`the bot stopped: ${String(error)}`)
})
const rooms = roomsOf(sandbox)
let [written, lost] = [0, 0]

const fast = await phase('as fast as it goes', async () => {
  while (written < messages) await Promise.all(rooms.map(write))
})
const from = written
const paced = await phase(`at an even pace, ${minutes} minutes`, async () => {
  const end = performance.now() + minutes * 60_000
  while (performance.now() < end) {
    await Promise.all([
      ...rooms
        .slice(written % rooms.length)
        .slice(0, 1)
        .map(write),
      pause(PACE_MS),
    ])
  }
})
stop.abort()
await bot
print(`written ${written} (${written - from} at an even pace), not read by the bot ${lost}`)
for (const [name, samples] of [
  ['as fast as it goes', fast],
  ['at an even pace', paced],
] as const) {
  print(name)
  for (const { name: what, early, late } of drift(samples)) {
    print(`  ${what.padEnd(10)} ${early.toFixed(1).padStart(8)} -> ${late.toFixed(1).padStart(8)}`)
  }
}
process.exitCode = lost === 0 ? 0 : 1

/** Runs traffic, and samples all the while. */
async function phase(name: string, traffic: () => Promise<void>): Promise<Sample[]> {
  print(`${name}\n  written  rss MiB heap MiB  handles   fds  loop p99 ms  longest ms`)
  const samples: Sample[] = []
  const over = new AbortController()
  const sampling = (async () => {
    while (!over.signal.aborted) {
      await pause(SAMPLE_MS, undefined, { signal: over.signal }).catch(() => undefined)
      const now = await sample(sidecar.adminUrl)
      samples.push(now)
      const cells = [now.rssMiB, now.heapMiB, now.handles, now.fds, now.loopP99Ms, now.loopMaxMs]
      const text = cells.map((cell) => cell.toFixed(0).padStart(8)).join(' ')
      if (samples.length % 10 === 1) print(`  ${String(written).padStart(7)} ${text}`)
    }
  })()
  await traffic()
  over.abort()
  await sampling
  return samples
}

/** One message by a person, until the bot has read it word for word. */
async function write({ userId, chatId, before }: Room): Promise<void> {
  const text = `${before}message ${++written}, and some words to go with it`
  const read = new Promise<boolean>((resolve) => {
    waiting.set(text, () => resolve(true))
    setTimeout(() => resolve(false), ANSWER_MS).unref()
  })
  await sandbox.control.write({ userId, chatId, text })
  if (!(await read)) lost++
  waiting.delete(text)
}

/** A private chat, an encrypted group and a readable one; the bot is named where it must be. */
function roomsOf({ home }: Sandbox): Room[] {
  const { alice, bob, privateChat, encryptedGroup, readableGroup } = home
  const named = `@${home.bot.username} `
  return [
    { userId: alice.id, chatId: privateChat, before: '' },
    { userId: bob.id, chatId: encryptedGroup, before: named },
    { userId: alice.id, chatId: readableGroup, before: named },
  ]
}

interface Room {
  userId: number
  chatId: number
  before: string
}
