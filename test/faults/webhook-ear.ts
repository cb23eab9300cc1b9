/** How a bot with a webhook hears: a server of its own, which fails like any other. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'

const SECRET = 'webhook-secret-4711'
const RETRY_MS = 200

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
    if (random.oneIn(12)) return end(response, 500)
    this.#hear(JSON.parse(Buffer.concat(chunks).toString()) as Update)
    if (random.oneIn(15)) return void request.socket.destroy()
    if (random.oneIn(8)) await pause(random.between(20, 400))
    end(response, random.oneIn(20) ? 503 : 200)
  }

  /** What comes again is what came last: nothing older was left unconfirmed. */
  #hear(update: Update): void {
    this.#latest = Math.max(this.#latest, update.updateId)
    this.#parts.take(update, this.#latest)
  }
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
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
