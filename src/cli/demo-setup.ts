import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDevFolder } from './dev-folder.ts'
import { startDev } from './dev-setup.ts'
import { runEchoBot, type EchoedMessage } from './echo-bot.ts'

/** Everything that the demo plays with, running. Disposing ends it and leaves nothing behind. */
export type Demo = Awaited<ReturnType<typeof startDemo>>

/**
 * Starts what `postern dev` runs, in a temporary folder, and the echo bot.
 * @param pagePort 0 is any free one
 * @throws OperatorError
 */
export async function startDemo(pagePort: number) {
  await using stack = new AsyncDisposableStack()
  const path = mkdtempSync(join(tmpdir(), 'postern-demo-'))
  stack.defer(() => rmSync(path, { recursive: true, force: true }))
  const folder = stack.use(openDevFolder(path, { fresh: false }))
  const ports = { port: 0, adminPort: 0, sandboxPort: 0, controlPort: 0, pagePort }
  const options = { folder, ports, seed: null, botName: undefined, open: false, print: () => {} }
  // What somebody changes in this world is seen at the next message.
  const cache = { keyListSeconds: 0, chatSeconds: 0 }
  const { sandbox, botUrl: url, pageUrl } = stack.use(await startDev({ ...options, cache }))
  const alice = await sandbox.phone(sandbox.home.alice.id)
  const echoed: EchoedMessage[] = []
  const stop = new AbortController()
  const { signal } = stop
  let failure: string | null = null
  const onMessage = (one: EchoedMessage): unknown => echoed.push(one)
  const bot = runEchoBot({ url, token: sandbox.token, signal, onMessage }).catch(
    (error: unknown) => {
      failure = error instanceof Error ? error.message : 'unknown'
    },
  )
  stack.defer(async () => {
    stop.abort()
    await bot
  })
  const resources = stack.move()
  return {
    sandbox,
    alice,
    pageUrl,
    /** What the bot read and answered, in order. */
    echoed,
    /** Why the bot stopped by itself; null while it runs. */
    failure: () => failure,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
