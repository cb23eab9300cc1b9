/**
 * One bot: its link to the service, its store and keys, its updates, and its operations. Parts that
 * it shares with others of the process are supplied.
 */
import type { OutboxDoor } from '../http/routes/outbox.ts'
import { requireNoCode } from '../kernel/index.ts'
import { clearNow, giveLater, refuseRequest, sendNow, type GiveParts } from '../outbox/give.ts'
import { Edits } from '../outbox/edits.ts'
import { Outbox } from '../outbox/outbox.ts'
import { alertWays } from '../observe/alerting.ts'
import { REAL_CLOCK } from '../util/clock.ts'
import { createCore, type Core } from './core.ts'
import { describeBotDoor } from './doors.ts'
import { createLink, type BotOptions, type Link } from './link.ts'
import { buildOperations } from './operations.ts'
import { createProbes } from './probes.ts'
import * as subscriptions from './subscriptions.ts'
import { createUpdates, type Updates } from './updates.ts'

const HOUR_MS = 3_600_000

/** Its parts work; it is not published, and nothing of its updates moves, before it is started. */
export type RunningBot = Awaited<ReturnType<typeof createBot>>

/** The outbox of a bot, with what its door asks of it. */
function createOutbox({ settings, parts = {} }: BotOptions, link: Link, core: Core) {
  const { outbox: entries, store, known } = core
  const { clock = REAL_CLOCK } = parts
  const sealsForBot = settings.key.publish
  const isOn = settings.outbox.coalesceEdits
  const edits = new Edits({ ...link, ...known, clock, isOn })
  const giving: GiveParts = {
    ...core,
    ...known,
    entries,
    edits,
    approverMaxAgeMs: settings.cache.keyListSeconds * 1000,
    fresh: () => store.fresh(),
    rules: () => ({ textMax: link.limits().textMax, sealsForBot }),
    nowMs: () => clock.now(),
  }
  const outbox = new Outbox({
    entries,
    store,
    clock,
    edits,
    send: (entry, words, turn) => sendNow(entry, { words, turn }, giving),
    maxAgeMs: settings.outbox.maxAgeHours * HOUR_MS,
  })
  const door: OutboxDoor = {
    find: (id) => store.fresh().then(() => entries.get(id)),
    edits,
    give: (call) => giveLater(call, giving),
    clear: (call) => clearNow(call, giving),
    refuseCodes: (body) => requireNoCode(body, entries.approvals),
    refuseRequest: (place) => refuseRequest(place, giving),
  }
  return { outbox, door }
}

/** Null without a collector: nothing of traces is loaded then. */
async function createTraces(options: BotOptions, link: Link, core: Core, updates: Updates) {
  const { target } = options.settings.traces
  if (target === null) return null
  const { traceBot } = await import('./reports/spans.ts')
  return traceBot(target, options, { link, core, updates })
}

/**
 * Makes a bot.
 * @throws OperatorError for everything that keeps the store from opening
 */
export async function createBot(options: BotOptions) {
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
        later: parts.later,
      }),
    )
  subscriptions.subscribeLink(link)
  const core = stack.use(await createCore(options, link, 'run'))
  stack.use(subscriptions.subscribeCore(core, link, log))
  // After the start's lines about the bot's key, and before those about a webhook.
  subscriptions.subscribeReadiness(link, core, log)
  const updates = stack.use(await createUpdates(options, link, core))
  subscriptions.subscribeUpdates(updates, core, link, options)
  const { outbox, door: outboxDoor } = createOutbox(options, link, core)
  subscriptions.subscribeOutbox(outbox, link, log)
  const traces = stack.use(await createTraces(options, link, core, updates))
  const operations = buildOperations(options, { link, core, updates })
  const door = describeBotDoor(options, { link, core, updates, outbox: outboxDoor })
  const resources = stack.move()
  return {
    link,
    core,
    updates,
    operations,
    /** The parts of its door. */
    door: traces?.ofDoor(door) ?? door,
    /** Begins to publish, to watch the service and to deliver. */
    start: (): void => {
      link.watch.start(createProbes(options, link, core))
      core.publication?.start()
      updates.consumers.start()
      updates.webhook.start()
      updates.backlog.start()
      outbox.start()
    },
    /** Ends polls and deliveries first, then requests by `drain`, then its own calls. */
    stop: async (drain: () => Promise<void>): Promise<void> => {
      link.health.set('stopping', '')
      link.watch.stop()
      // Before the door closes: a bot may have to call it while handling an update.
      await updates[Symbol.asyncDispose]()
      const isOutboxIdle = outbox[Symbol.asyncDispose]()
      await drain()
      // Ends calls of our own, which parts disposed of next may be waiting for.
      if (link !== parts.link) await link[Symbol.asyncDispose]()
      await isOutboxIdle
    },
    [Symbol.asyncDispose]: (): Promise<void> => resources.disposeAsync(),
  }
}
