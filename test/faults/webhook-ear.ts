/** How a bot with a webhook hears: a server of its own, which fails like any other. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { FIXED_LIMITS } from '../../src/api/limits.ts'
import type { Random } from '../support/faults-random.ts'

const SECRET = 'webhook-secret-4711'
const RETRY_MS = 200
const FIRST_WAIT_MS = FIXED_LIMITS.webhookBackoffFirstMs

export interface EarParts<Update> {
  random: Random
  /** Calls the sidecar; null when nobody answered. */
  call: (method: string, path: string, body?: unknown) => Promise<{ status: number } | null>
  /** @param confirmedBelow every update below was confirmed before */
  take: (update: Update, confirmedBelow: number) => void
  /** Told of a delivery that is not as it must be. */
  breach: (what: string) => void
}

export class WebhookEar<Update extends { updateId: number }> {
  readonly #parts: EarParts<Update>
  #port = 0
  #latest = 0
  /** How long a sidecar waits before the next delivery, since the last one failed here. */
  #waitMs = 0
  /** All such waits that are over. */
  waitsMs = 0

  constructor(parts: EarParts<Update>) {
    this.#parts = parts
  }

  /** Hears until it is stopped: listens, and sets the webhook until that is taken. */
  async hear(stop: AbortSignal): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response))
    await listen(server, this.#port)
    const address = server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
    const url = `http://127.0.0.1:${this.#port}/updates`
    while (!stop.aborted) {
      const set = await this.#parts.call('POST', '/webhook', { url, secret: SECRET })
      if (set?.status === 200) break
      await pause(RETRY_MS)
    }
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve()
      stop.addEventListener('abort', () => resolve(), { once: true })
    })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { random, breach } = this.#parts
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    if (request.headers['x-service-bot-api-secret-token'] !== SECRET) {
      breach('I7: a delivery without the bot’s own secret')
    }
    const waitMs = this.#waitMs
    this.waitsMs += waitMs
    this.#waitMs = 0
    const end = (status: number): void => {
      if (status !== 200) this.#waitMs = Math.max(FIRST_WAIT_MS, 2 * waitMs)
      response.writeHead(status).end()
    }
    if (random.oneIn(12)) return end(500)
    this.#hear(JSON.parse(Buffer.concat(chunks).toString()) as Update)
    // on a connection of before, it is delivered again at once
    if (random.oneIn(15)) return void request.socket.destroy()
    if (random.oneIn(8)) await pause(random.between(20, 400))
    end(random.oneIn(20) ? 503 : 200)
  }

  /** What comes again is what came last: nothing older was left unconfirmed. */
  #hear(update: Update): void {
    this.#latest = Math.max(this.#latest, update.updateId)
    this.#parts.take(update, this.#latest)
  }
}

/** The port is taken by the life before for a moment. */
async function listen(server: Server, port: number): Promise<void> {
  for (;;) {
    const failed = await new Promise<Error | null>((resolve) => {
      server.once('error', resolve)
      server.listen(port, '127.0.0.1', () => resolve(null))
    })
    if (failed === null) return
    await pause(50)
  }
}
