import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { SecretSource } from '../config/secrets.ts'
import { settingsFrom } from '../config/settings.ts'
import { createSidecar } from '../context.ts'
import type { Operations } from '../control/operations.ts'
import { OperatorError } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createSandbox, type Sandbox } from '../sandbox/create.ts'
import { BotTraffic } from '../sandbox/page/bot-traffic.ts'
import type { Phone } from '../sandbox/phone/phone.ts'
import { runEchoBot, type EchoedMessage } from './echo-bot.ts'

/** Everything that the demo plays with, running. Disposing ends it and leaves nothing behind. */
export interface Demo extends AsyncDisposable {
  sandbox: Sandbox
  /** The bot's door of the sidecar. */
  url: string
  alice: Phone
  bob: Phone
  /** What the bot and the sidecar say to each other. */
  botTraffic: BotTraffic
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
  const sandbox = stack.use(await createSandbox())
  const [alice, bob] = await Promise.all([
    sandbox.phone(sandbox.home.alice.id),
    sandbox.phone(sandbox.home.bob.id),
  ])
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
  await untilReady(sidecar.operations)
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
    url,
    alice,
    bob,
    botTraffic,
    echoed,
    failure: () => failure,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

const READY_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 20

/**
 * Waits until a sidecar of this process is ready.
 * @throws OperatorError `failed`, with the reasons, when it is not within 20 s
 */
export async function untilReady({ status }: Pick<Operations, 'status'>): Promise<void> {
  const endMs = Date.now() + READY_WITHIN_MS
  for (;;) {
    const { ready, reasons } = await status()
    if (ready) return
    if (Date.now() > endMs) {
      const why = reasons.map(({ code, message }) => `${code} ${message}`.trim()).join('; ')
      throw new OperatorError(
        'failed',
        `the sidecar did not get ready: ${why}`,
        'try again; on a slow machine the first start may take long',
      )
    }
    await pause(LOOK_EVERY_MS)
  }
}
