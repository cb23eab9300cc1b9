/** How long a bot hears nothing when the sidecar ends by which it hears. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../src/sandbox/create.ts'
import type { BenchBot } from './bench-bots.ts'
import { startPostern, type Process } from './processes.ts'

/** How the bot hears. */
export const WAYS = ['poll', 'webhook'] as const
export type Way = (typeof WAYS)[number]

const PATIENCE_MS = 60_000

interface Scene {
  sandbox: Sandbox
  bot: BenchBot
  store: { url: string; schema: string }
  way: Way
  signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP'
  /** How long both are there before. */
  afterMs: number
}

/**
 * Starts two sidecars of a bot, sends the one by which it hears a signal, and writes to the bot.
 * @returns ms from the signal until the bot has heard it by the other sidecar
 */
export async function takeOverOf(scene: Scene): Promise<number> {
  const { sandbox, bot, store, way, signal, afterMs } = scene
  const from = { upstream: sandbox.url, token: bot.token, publish: true, store }
  await using first = await startPostern(from)
  await using ear = await earOf(way, bot)
  await ear.at(first)
  const phone = await sandbox.phone(sandbox.home.alice.id)
  await phone.write(bot.chatId, 'before')
  await ear.heard('before')
  await using second = await startPostern(from)
  await pause(afterMs)
  const startedAt = performance.now()
  process.kill(first.pid, signal)
  await phone.write(bot.chatId, 'after')
  await ear.at(second)
  await ear.heard('after')
  const ms = performance.now() - startedAt
  await ear.leave(second)
  return ms
}

/** How a bot hears; it is at one sidecar, or, where that has gone, at the next. */
interface Ear extends AsyncDisposable {
  at(postern: Process): Promise<void>
  /** Resolves once it heard these words. */
  heard(text: string): Promise<void>
  /** Leaves nothing behind at the service. */
  leave(postern: Process): Promise<void>
}

async function earOf(way: Way, bot: BenchBot): Promise<Ear> {
  return way === 'poll' ? new PollEar(bot) : await WebhookEar.open(bot)
}

interface Update {
  updateId: number
  message?: { text?: string }
}

class Words {
  readonly #heard = new Set<string>()
  #wake = (): void => {}

  hear({ message }: Update): void {
    if (message?.text !== undefined) this.#heard.add(message.text)
    this.#wake()
  }

  async heard(text: string): Promise<void> {
    const tooLate = AbortSignal.timeout(PATIENCE_MS)
    while (!this.#heard.has(text)) {
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve
        const never = new Error(`the bot never heard "${text}"`)
        tooLate.addEventListener('abort', () => reject(never), { once: true })
      })
    }
  }
}

/** Polls again as soon as a poll is answered, at the sidecar at which it was last. */
class PollEar implements Ear {
  readonly #words = new Words()
  readonly #bot: BenchBot
  #end = new AbortController()
  #polls: Promise<void> = Promise.resolve()
  #offset = 0

  constructor(bot: BenchBot) {
    this.#bot = bot
  }

  async at(postern: Process): Promise<void> {
    await this.#stop()
    this.#end = new AbortController()
    this.#polls = this.#poll(postern, this.#end.signal)
  }

  heard(text: string): Promise<void> {
    return this.#words.heard(text)
  }

  async leave(postern: Process): Promise<void> {
    await this.#stop()
    // confirms what was heard
    await callOf(this.#bot, postern, 'GET', `/updates?timeout=0&offset=${this.#offset}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
  }

  async #stop(): Promise<void> {
    this.#end.abort()
    await this.#polls
  }

  async #poll(postern: Process, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const path = `/updates?timeout=50&offset=${this.#offset}`
      const updates = await callOf(this.#bot, postern, 'GET', path, { signal: end }).catch(() => [])
      for (const update of updates as Update[]) {
        this.#offset = update.updateId + 1
        this.#words.hear(update)
      }
    }
  }
}

/** A server of the bot's. */
class WebhookEar implements Ear {
  readonly #words = new Words()
  readonly #bot: BenchBot
  readonly #server: Server
  #isSet = false

  private constructor(bot: BenchBot) {
    this.#bot = bot
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        this.#words.hear(JSON.parse(Buffer.concat(pieces).toString()) as Update)
        response.end()
      })
    })
  }

  static async open(bot: BenchBot): Promise<WebhookEar> {
    const ear = new WebhookEar(bot)
    await new Promise<void>((resolve) => void ear.#server.listen(0, '127.0.0.1', resolve))
    return ear
  }

  /** It is set once; whoever takes over knows it. */
  async at(postern: Process): Promise<void> {
    if (this.#isSet) return
    this.#isSet = true
    const { port } = this.#server.address() as AddressInfo
    const body = { url: `http://127.0.0.1:${port}/` }
    await callOf(this.#bot, postern, 'POST', '/webhook', { body: JSON.stringify(body) })
  }

  heard(text: string): Promise<void> {
    return this.#words.heard(text)
  }

  async leave(postern: Process): Promise<void> {
    await callOf(this.#bot, postern, 'DELETE', '/webhook')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function callOf(
  { token }: BenchBot,
  { url }: Process,
  method: string,
  path: string,
  more: { body?: string; signal?: AbortSignal } = {},
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/bot/v1${path}`, { method, headers, ...more })
  const answer = (await response.json()) as { ok: boolean; result: unknown }
  if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
  return answer.result
}
