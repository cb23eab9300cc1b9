import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createLog } from '../cli/log.ts'
import { createSidecar, type HandedInParts } from '../context.ts'
import { untilReady } from './readiness.ts'
import { timeOf } from '../util/clock.ts'
import { loadTestSettings, type TestSettings } from './settings.ts'

/** Options of a sidecar in a test. */
export interface StartSidecarOptions {
  /** Base URL of the service, such as `sandbox.url`; without `/bot/v1`. */
  upstream: string
  /** The bot's token at the service, such as `sandbox.token`. The bot presents it to the sidecar too. */
  token: string
  /** The token that the bot presents, so that it never holds the service's own. */
  clientToken?: string
  /**
   * Folder for the state that survives a restart, for a test that restarts the sidecar. It stays
   * when the sidecar stops. By default a temporary one, which goes with the sidecar.
   */
  dataDir?: string
  /**
   * Any other settings, as a settings file has them. Both ports are free ones by default, nothing is
   * logged (`log: { level: 'info' }` logs to stderr), and the secret keys rest without protection
   * (use `key: { protection: 'passphrase' }` with `passphrase`).
   */
  settings?: TestSettings
  /** The sandbox whose clock the sidecar follows, as it is moved; this machine's clock without one. */
  clock?: { now(): number }
  /** Protects the secret keys. Deriving its key needs half a second at each start. */
  passphrase?: string
  /**
   * Milliseconds within which the sidecar must be ready; 8000 by default. `false` waits until it
   * listens and no longer, for a test of a bot before a service that is down.
   */
  readyWithinMs?: number | false
}

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
  return await startSidecarOn(options, clock === undefined ? {} : { time: timeOf(clock) })
}

/**
 * The same with parts in place of the usual ones.
 * @internal its types are no part of the package
 */
export async function startSidecarOn(
  options: StartSidecarOptions,
  parts: HandedInParts,
): Promise<TestSidecar> {
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
