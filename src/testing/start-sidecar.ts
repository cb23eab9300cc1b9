import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createLog } from '../config/log.ts'
import { createSidecar } from '../context.ts'
import { untilReady } from './readiness.ts'
import { timeOf } from '../util/clock.ts'
import { loadTestSettings, type StartSidecarOptions } from './settings.ts'

/** A sidecar that runs in the process of the test. */
export interface TestSidecar extends AsyncDisposable {
  /** Base URL for the bot, in place of the service's; without `/bot/v1`. */
  readonly url: string
  /** Base URL of `/healthz`, `/readyz`, `/status` and `/metrics`. */
  readonly adminUrl: string
  /**
   * Waits until the sidecar is ready, at once when it is: after an outage, or a start that did not
   * wait.
   * @param withinMs 8000 by default
   * @throws NotReadyError with every reason when it is not ready in time, or was stopped
   */
  ready(withinMs?: number): Promise<void>
  /** Ends it, calls under way included. Nothing of it goes on afterwards; a second call does nothing. */
  stop(): Promise<void>
}

const READY_WITHIN_MS = 8000

/**
 * Starts a sidecar for the tests of a bot, in their own process: it handles no signals, never ends
 * the process, and prints nothing unless asked. Several can run side by side.
 * @throws OperatorError with `code` and `hint` when it cannot start: `settings`, `listen`, `data-dir`,
 *   `store-in-use` and others of the store; NotReadyError, whose `code` is the first reason of
 *   `/readyz`, when it is not ready in time, or cannot become so by itself (`token`, for instance)
 */
export async function startSidecar(options: StartSidecarOptions): Promise<TestSidecar> {
  const { clock } = options
  const parts = clock === undefined ? {} : { time: timeOf(clock) }
  const { readyWithinMs = READY_WITHIN_MS } = options
  await using stack = new AsyncDisposableStack()
  const dataDir = options.dataDir ?? (await temporaryFolder(stack))
  const { settings, secrets } = loadTestSettings({ ...options, dataDir: resolve(dataDir) })
  const log = createLog({ settings, secrets, origins: new Map() })
  const sidecar = stack.use(await createSidecar({ settings, secrets, log, parts }))
  const { bot, admin } = await sidecar.listen({ hasControl: false })
  if (readyWithinMs !== false) {
    await untilReady(sidecar.health, { withinMs: readyWithinMs, isStart: true })
  }
  const running = stack.move()
  const stop = (): Promise<void> => running.disposeAsync()
  return {
    url: bot,
    adminUrl: admin,
    ready: (withinMs = READY_WITHIN_MS) => untilReady(sidecar.health, { withinMs, isStart: false }),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function temporaryFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-testing-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}
