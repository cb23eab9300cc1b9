/**
 * The bot of the flood bench, a process of its own: makes the same calls over and over from the
 * word go until the word stop, polls as fast as they are answered, all else as often as the service
 * allows. Talks to its parent; ends with it.
 */
import { setTimeout as elapsed } from 'node:timers/promises'
import { Agent } from 'undici'
import { FIRST_GROUP, GROUPS, POLL_PATH, type BotSaid, type Lane, type ToBot } from './words.ts'

/** Between two calls of all lanes together (spec, Limits: 600 calls a minute). */
const CALL_MS = 100

let counter = 0
let nextMs = 0
let stop = new AbortController()
let running: Promise<void>[] = []
let answers: Record<string, number> = {}

process.on('message', (message: ToBot) => void obey(message))
process.on('disconnect', () => process.exit(0))

async function obey(message: ToBot): Promise<void> {
  if ('go' in message) {
    stop = new AbortController()
    answers = {}
    const { lanes } = message.go
    running = lanes.flatMap((lane) =>
      Array.from({ length: lane.lanes }, () => run(lane, message.go)),
    )
    process.send?.({ going: true } satisfies BotSaid)
  } else {
    stop.abort()
    await Promise.all(running)
    process.send?.({ stopped: answers } satisfies BotSaid)
  }
}

async function run(lane: Lane, { url, token }: { url: string; token: string }): Promise<void> {
  const agent = new Agent({ connections: 1 })
  while (!stop.signal.aborted) {
    if (lane.path !== POLL_PATH) await turn()
    const number = String(FIRST_GROUP + (counter++ % GROUPS))
    const path = `/bot/v1${lane.path.replace('#', number)}`
    const body = lane.body?.replace('#', number) ?? null
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const status = await agent
      .request({ origin: url, method: lane.method, path, headers, body, signal: stop.signal })
      .then(async (answer) => {
        for await (const _piece of answer.body);
        return answer.statusCode
      })
      .catch(() => 0)
    answers[status] = (answers[status] ?? 0) + 1
  }
  await agent.close()
}

/** Waits until another call may be made. */
async function turn(): Promise<void> {
  const nowMs = performance.now()
  nextMs = Math.max(nextMs + CALL_MS, nowMs)
  await elapsed(nextMs - nowMs, undefined, { signal: stop.signal }).catch(() => undefined)
}
