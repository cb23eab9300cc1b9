import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SecretSource } from '../config/secrets.ts'
import { settingsFrom } from '../config/settings.ts'
import { createSidecar } from '../context.ts'
import { createLogger } from '../logger.ts'
import { createSandbox, type Sandbox } from '../sandbox/create.ts'
import { BotTraffic } from '../sandbox/page/bot-traffic.ts'
import type { PageSidecar } from '../sandbox/page/sidecar.ts'
import type { Phone } from '../sandbox/phone/phone.ts'
import { runEchoBot, type EchoedMessage } from './echo-bot.ts'
import { untilReady } from './connect.ts'

/** Everything that the demo plays with, running. Disposing ends it and leaves nothing behind. */
export interface Demo extends AsyncDisposable {
  sandbox: Sandbox
  alice: Phone
  /** The exchanges between bot and sidecar. */
  botTraffic: BotTraffic
  pageSidecar: PageSidecar
  /** What the bot read and answered, in order. */
  echoed: EchoedMessage[]
  /** Why the bot stopped by itself; null while it runs. */
  failure(): string | null
}

/**
 * Starts the sandbox, a sidecar with a fresh key in a temporary data directory, and the echo bot.
 * @throws OperatorError when the sidecar does not get ready
 */
export async function startDemo(): Promise<Demo> {
  await using stack = new AsyncDisposableStack()
  const sandbox = stack.use(await createSandbox({ phones: 'all' }))
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const botTraffic = new BotTraffic({ botId: sandbox.home.bot.id, now: () => sandbox.now() })
  const dataDir = await mkdtemp(join(tmpdir(), 'postern-demo-'))
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const sidecar = stack.use(
    await createSidecar({
      settings: settingsFrom({
        upstream: { url: sandbox.url },
        listen: { port: 0 },
        admin: { port: 0 },
        dataDir,
        // What somebody changes in this world is seen at the next message.
        cache: { keyListSeconds: 0, chatSeconds: 0 },
      }),
      secrets: {
        botToken: SecretSource.fromValue(sandbox.token),
        clientToken: null,
        passphrase: SecretSource.fromValue(randomBytes(24).toString('base64url')),
      },
      log: createLogger({ level: 'silent', pretty: false }),
      parts: { onBotExchange: (exchange) => botTraffic.record(exchange) },
    }),
  )
  const { bot: url } = await sidecar.listen()
  await untilReady(sidecar)
  const echoed: EchoedMessage[] = []
  const stop = new AbortController()
  const { token } = sandbox
  let failure: string | null = null
  const bot = runEchoBot({
    url,
    token,
    signal: stop.signal,
    onMessage: (one) => echoed.push(one),
  }).catch((error: unknown) => {
    failure = error instanceof Error ? error.message : 'unknown'
  })
  stack.defer(async () => {
    stop.abort()
    await bot
  })
  const resources = stack.move()
  return {
    sandbox,
    alice,
    botTraffic,
    pageSidecar: { botUrl: url, readiness: () => sidecar.operations.status(), restarts: new Map() },
    echoed,
    failure: () => failure,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
