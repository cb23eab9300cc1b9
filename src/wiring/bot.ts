/**
 * One bot: its link to the service, its store and keys, its updates, and what an operator can ask of
 * it. What it shares with others of the process is handed in.
 */
import type { Secrets, Settings } from '../config/settings.ts'
import type { Operations } from '../control/operations.ts'
import type { BotDoorParts } from '../http/server.ts'
import type { Log } from '../logger.ts'
import { alertWays } from '../reports/alerting.ts'
import { createCore, type Core } from './core.ts'
import { botDoorEvents, describeBotDoor } from './doors.ts'
import { createLink, type Link, type HandedInParts } from './link.ts'
import { buildOperations } from './operations.ts'
import { createProbes } from './probes.ts'
import {
  subscribeCore,
  subscribeLink,
  subscribeReadiness,
  subscribeUpdates,
} from './subscriptions.ts'
import { createUpdates, type Updates } from './updates.ts'

export interface BotOptions {
  settings: Settings
  secrets: Secrets
  log: Log
  /** Its name, where there are several. */
  name?: string
  /** False where there was a store, and none may take its place. */
  mayCreateStore?: boolean
  parts?: HandedInParts
}

/** Its parts work; it is not published, and nothing of its updates moves, before it is started. */
export interface RunningBot extends AsyncDisposable {
  link: Link
  core: Core
  updates: Updates
  operations: Operations
  /** What its door is built of. */
  door: BotDoorParts
  /** Begins to publish, to watch the service and to deliver. */
  start(): void
  /** Ends what is under way: polls and deliveries first, then what `drain` waits for, then calls of its own. */
  stop(drain: () => Promise<void>): Promise<void>
}

/**
 * Makes a bot.
 * @throws OperatorError for everything that keeps the store from opening
 */
export async function createBot(options: BotOptions): Promise<RunningBot> {
  const { settings, secrets, log, name, parts = {} } = options
  await using stack = new AsyncDisposableStack()
  const link =
    parts.link ??
    stack.use(
      createLink(settings, secrets, {
        log,
        ways: alertWays(settings, secrets),
        bot: name,
        metrics: parts.metrics,
        time: parts.time,
      }),
    )
  subscribeLink(link)
  const core = stack.use(await createCore(options, link, 'run'))
  stack.use(subscribeCore(core, link, log))
  // After what every start says of its key, and before what it says of a webhook.
  subscribeReadiness(link, core, log)
  const updates = stack.use(await createUpdates(options, link, core))
  subscribeUpdates(updates, core, link, options)
  const operations = buildOperations(options, { link, core, updates })
  const events = botDoorEvents(link, core, updates)
  const resources = stack.move()
  return {
    link,
    core,
    updates,
    operations,
    door: describeBotDoor(options, { link, core, updates, events }),
    start: () => {
      link.watch.start(createProbes(options, link, core))
      core.publication?.start()
      updates.webhook.start()
      updates.backlog.start()
    },
    stop: async (drain) => {
      link.health.set('stopping', '')
      link.watch.stop()
      // While its door is open still: a bot that takes an update may have to answer it.
      await updates[Symbol.asyncDispose]()
      await drain()
      // Ends calls of our own, which what is disposed of next may be waiting for.
      if (link !== parts.link) await link[Symbol.asyncDispose]()
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
