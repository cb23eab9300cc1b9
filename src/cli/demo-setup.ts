import { randomBytes } from 'node:crypto'
import type { StatusReport } from '../operators/reports.ts'
import { createSandbox } from '../sandbox/create.ts'
import { createBotTraffic } from '../sandbox/page/bot-traffic.ts'
import type { PageSidecar } from '../sandbox/page/sidecar.ts'
import { startSidecarOn } from '../testing/start-sidecar.ts'
import { runEchoBot, type EchoedMessage } from './echo-bot.ts'
import { timeOf } from '../util/clock.ts'

/** Everything that the demo plays with, running. Disposing ends it and leaves nothing behind. */
export type Demo = Awaited<ReturnType<typeof startDemo>>

/**
 * Starts the sandbox, a sidecar with a fresh key in a temporary data directory, and the echo bot.
 * @throws NotReadyError when the sidecar does not get ready
 */
export async function startDemo() {
  await using stack = new AsyncDisposableStack()
  const sandbox = stack.use(await createSandbox({ phones: 'all' }))
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const botTraffic = createBotTraffic({ botId: sandbox.home.bot.id, now: () => sandbox.now() })
  const { url: upstream, token } = sandbox
  const passphrase = randomBytes(24).toString('base64url')
  // What somebody changes in this world is seen at the next message.
  const settings = { cache: { keyListSeconds: 0, chatSeconds: 0 } }
  const { url, adminUrl } = stack.use(
    await startSidecarOn(
      { upstream, token, passphrase, settings, readyWithinMs: 20_000 },
      { onBotExchange: (exchange) => botTraffic.record(exchange), time: timeOf(sandbox) },
    ),
  )
  const echoed: EchoedMessage[] = []
  const stop = new AbortController()
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
    /** The exchanges between bot and sidecar. */
    botTraffic,
    pageSidecar: {
      botUrl: url,
      readiness: async () => (await (await fetch(`${adminUrl}/status`)).json()) as StatusReport,
      restarts: new Map(),
    } satisfies PageSidecar,
    /** What the bot read and answered, in order. */
    echoed,
    /** Why the bot stopped by itself; null while it runs. */
    failure: () => failure,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
