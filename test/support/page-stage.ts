/** A sandbox with its page, a sidecar in this process, and a bot that a test plays. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runEchoBot } from '../../src/cli/echo-bot.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import type { Operations } from '../../src/operators/operations.ts'
import { createSidecar } from '../../src/context.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { createBotTraffic, type BotTraffic } from '../../src/sandbox/page/bot-traffic.ts'
import type { PageSidecar } from '../../src/sandbox/page/sidecar.ts'
import { until } from './sidecar.ts'
import { watchedLog } from './watched-log.ts'

export interface PageStage extends AsyncDisposable {
  sandbox: Sandbox
  traffic: BotTraffic
  /** Of the page. */
  url: string
  /** What the page can start anew: nothing, unless a test puts something in. */
  restarts: PageSidecar['restarts']
  /** The bot's door of the sidecar. */
  botUrl: string
  /** What an operator asks the sidecar. */
  operations: Operations
  /** A call of the bot's to its sidecar, parsed. */
  call(method: string, path: string, body?: object): Promise<{ status: number; answer: Answer }>
  /** Lets an echo bot run until the stage ends. */
  echo(): void
}

interface Answer {
  ok: boolean
  result: { id: number } & Record<string, unknown>
  error: { code: string }
}

/** Starts it, and waits until the sidecar has published its key. */
export async function startPageStage(): Promise<PageStage> {
  await using stack = new AsyncDisposableStack()
  const sandbox = stack.use(await createSandbox({ rates: 'off', phones: 'all' }))
  const { token, home } = sandbox
  const traffic = createBotTraffic({ botId: home.bot.id, now: () => sandbox.now() })
  const dataDir = await mkdtemp(join(tmpdir(), 'page-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const sidecar = stack.use(
    await createSidecar({
      settings: settingsFrom({
        upstream: { url: sandbox.url },
        listen: { port: 0 },
        admin: { port: 0 },
        key: { protection: 'none' },
        cache: { keyListSeconds: 0, chatSeconds: 0 },
        dataDir,
      }),
      secrets: { botToken: SecretSource.fromValue(token), clientToken: null, passphrase: null },
      log: watchedLog(),
      parts: { onBotExchange: (exchange) => traffic.record(exchange) },
    }),
  )
  const { bot: botUrl } = await sidecar.listen()
  await until(async () => (await sidecar.operations.status()).ready, 'the sidecar is ready')
  const restarts: PageSidecar['restarts'] = new Map()
  const readiness = () => sidecar.operations.status()
  const { url } = await sandbox.startPage({
    botTraffic: traffic,
    sidecar: { botUrl, readiness, restarts },
  })
  const stop = new AbortController()
  const bots: Promise<void>[] = []
  stack.defer(async () => {
    stop.abort()
    await Promise.all(bots)
  })
  const running = stack.move()
  return {
    sandbox,
    traffic,
    url,
    botUrl,
    operations: sidecar.operations,
    restarts,
    call: async (method, path, body) => {
      const response = await fetch(`${botUrl}/bot/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, answer: (await response.json()) as Answer }
    },
    echo: () => {
      const { signal } = stop
      const bot = runEchoBot({ url: botUrl, token, signal, onMessage: () => undefined })
      bots.push(bot.catch(() => undefined))
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
