/** How long a bot hears nothing when the sidecar ends by which it hears. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { callOf, type BenchBot, type Update } from './bench-bots.ts'
import { startPostern, type Process, type StorePlace } from './processes.ts'

/** How the bot hears. */
export const WAYS = ['poll', 'webhook'] as const
export type Way = (typeof WAYS)[number]

const PATIENCE_MS = 60_000
const LOOK_MS = 5
/** Until a sidecar that goes on has delivered what was under way. */
const WOKEN_MS = 2000

/**
 * Starts two sidecars of a bot, sends the one by which it hears a signal, and writes to the bot.
 * @param o `afterMs` how long both are there before
 * @returns `ms` from the signal until the bot has heard it by the other sidecar; `repeats` how often it
 *   was heard again, once the first goes on after SIGSTOP
 */
export async function takeOverOf(o: {
  sandbox: Sandbox
  bot: BenchBot
  store: StorePlace
  way: Way
  signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP'
  afterMs: number
}): Promise<{ ms: number; repeats: number }> {
  const { sandbox, bot, store, way, signal, afterMs } = o
  const from = { upstream: sandbox.url, token: bot.token, publish: true, store }
  await using first = await startPostern(from)
  await using ear = way === 'poll' ? pollEar(bot) : await webhookEar(bot)
  await ear.at(first)
  const phone = await sandbox.phone(sandbox.home.alice.id)
  await phone.write(bot.chatId, 'before')
  await ear.hears('before')
  await using second = await startPostern(from)
  await pause(afterMs)
  const startedAt = performance.now()
  process.kill(first.pid, signal)
  await phone.write(bot.chatId, 'after')
  await ear.at(second)
  await ear.hears('after')
  const ms = performance.now() - startedAt
  if (signal === 'SIGSTOP') {
    process.kill(first.pid, 'SIGCONT')
    await pause(WOKEN_MS)
  }
  await ear.leave(second)
  return { ms, repeats: ear.heard.filter((text) => text === 'after').length - 1 }
}

/** How a bot hears; it is at one sidecar, or, where that has gone, at the next. */
interface Ear extends AsyncDisposable {
  at(postern: Process): Promise<void>
  /** The texts so far. */
  readonly heard: readonly string[]
  /** Resolves once it heard this text. */
  hears(text: string): Promise<void>
  /** Leaves nothing behind at the service. */
  leave(postern: Process): Promise<void>
}

/** The texts of updates. */
function listener() {
  const heard: string[] = []
  return {
    heard,
    hear: ({ message }: Update): void => void (message?.text && heard.push(message.text)),
    async hears(text: string): Promise<void> {
      const untilMs = performance.now() + PATIENCE_MS
      while (!heard.includes(text)) {
        if (performance.now() > untilMs) throw new Error(`the bot never heard "${text}"`)
        await pause(LOOK_MS)
      }
    },
  }
}

/** Polls again as soon as a poll is answered, at the sidecar at which it was last. */
function pollEar(bot: BenchBot): Ear {
  const { hear, ...listening } = listener()
  let end = new AbortController()
  let polls: Promise<void> = Promise.resolve()
  let offset = 0
  const poll = async (postern: Process, { signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      const path = `/updates?timeout=50&offset=${offset}`
      const call = { method: 'GET', path, signal }
      const updates = await callOf(postern, bot, call).catch(() => [])
      for (const update of updates as Update[]) {
        offset = update.updateId + 1
        hear(update)
      }
    }
  }
  const stop = async (): Promise<void> => {
    end.abort()
    await polls
  }
  return {
    ...listening,
    at: async (postern) => {
      await stop()
      end = new AbortController()
      polls = poll(postern, end)
    },
    leave: async (postern) => {
      await stop()
      // confirms what was heard
      await callOf(postern, bot, { method: 'GET', path: `/updates?timeout=0&offset=${offset}` })
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** A server of the bot's; the webhook is set once, and the sidecar that takes over knows it. */
async function webhookEar(bot: BenchBot): Promise<Ear> {
  const { hear, ...listening } = listener()
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      hear(JSON.parse(Buffer.concat(pieces).toString()) as Update)
      response.end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  let isSet = false
  return {
    ...listening,
    at: async (postern) => {
      if (isSet) return
      isSet = true
      const body = { url: `http://127.0.0.1:${port}/` }
      await callOf(postern, bot, { method: 'POST', path: '/webhook', body })
    },
    leave: async (postern) =>
      void (await callOf(postern, bot, { method: 'DELETE', path: '/webhook' })),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
