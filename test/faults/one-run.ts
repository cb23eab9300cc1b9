/** One run: a world, a sidecar, a bot, trouble by the seed, a time to heal, and the checker. */
import { setTimeout as pause } from 'node:timers/promises'
import { startProxy } from '../support/faults-proxy.ts'
import { Random } from '../support/faults-random.ts'
import { untilReady } from '../support/sidecar-process.ts'
import { Bot } from './bot.ts'
import { Cast, GIVING_MS } from './cast.ts'
import { check, type Evidence, type Outcome } from './checker.ts'
import { evidenceOfService } from './evidence.ts'
import { during, newHistory, type History } from './history.ts'
import { HOLDER } from './holder.ts'
import { Keeper } from './keeper.ts'
import { lookAlong } from './look-along.ts'
import { People } from './people.ts'
import { Service } from './service.ts'
import { makesOn, track, type Makes } from './track.ts'
import { DEATHS, MACHINE, OTHERS, SERVICE, type Stage } from './troubles.ts'
import { untilHeard } from './until-heard.ts'

const HEAL_MS = 150_000
const NO_DISK = 'no disk can be mounted here: full-disk and read-only are left out'

/**
 * Runs one seed.
 * @param o `troubleMs` how long things go wrong; `hasWebhook` by the seed when not said
 */
export async function runOnce(
  seed: number,
  o: { troubleMs: number; hasWebhook?: boolean },
): Promise<Outcome> {
  const random = new Random(seed)
  const history = newHistory(seed)
  await using service = await Service.start()
  await using proxy = await startProxy(service.url, random.fork())
  const people = await People.settle(service, { history, random: random.fork() })
  await using cast = new Cast({ service, people, history, random: random.fork() })
  const { token } = service.home.bot
  const cacheSeconds = random.pick([1, 5, 60])
  const times = { cacheSeconds, leavingFactor: random.pick([0, 0.05, 1]) }
  const upstreamUrl = proxy.url
  const { settings } = cast
  const agent = cast.holder?.address
  await using keeper = new Keeper({ upstreamUrl, token, history, ...times, settings, agent })
  const hasWebhook = o.hasWebhook ?? random.oneIn(2)
  const bot = new Bot({ keeper, history, random: random.fork(), hasWebhook })
  const stage: Stage = { service, proxy, keeper, people, bot, history }
  try {
    await cast.holder?.start()
    await begin(stage, random.fork())
    await cast.enter(keeper)
    await cast.along(async (endGiving) => {
      await trouble(stage, cast, random.fork(), o.troubleMs)
      await heal(stage, cast, endGiving)
    })
  } catch (error) {
    history.breaches.push(`the run could not go on: ${String(error)}`)
  }
  await bot.die()
  const look = await keeper.look()
  const outbox = await keeper.outbox()
  await keeper.stop('SIGTERM')
  const outcome = check(history, await evidence(stage, cast, { look, outbox }))
  return keeper.hasDisk ? outcome : { ...outcome, line: `${outcome.line} (${NO_DISK})` }
}

/** The first start, in trouble of its own by chance; ends when the key is published. */
async function begin({ service, keeper, bot, people, history }: Stage, random: Random) {
  const first = random.pick(['calm', 'late-key', 'lost-put', 'failing-put', 'killed'] as const)
  const { control } = service
  if (first === 'late-key') {
    await control.fault({ name: 'late-key', delayMs: random.between(200, 1200), times: 1 })
  }
  if (first === 'lost-put') await control.fault({ name: 'lost-answer', route: 'putKey', times: 1 })
  if (first === 'failing-put') await control.fault({ name: 'error', route: 'putKey', times: 1 })
  await during(history, 'late-key', async () => {
    await keeper.start()
    if (first === 'killed') {
      await pause(random.between(0, 900))
      await keeper.stop('SIGKILL')
      await keeper.start()
    }
    await untilReady(keeper.admin ?? '')
  })
  await control.clearFaults({})
  bot.start()
  // what was seen once must never be unlearnt, so it is seen before anybody lies about it
  for (const chatId of Object.values(people.chats)) await bot.call('GET', `/chats/${chatId}`)
  await snapshot(keeper, history)
}

async function trouble(stage: Stage, { holder }: Cast, random: Random, forMs: number) {
  const enough = AbortSignal.timeout(forMs)
  const { keeper, history, people } = stage
  const looking = lookAlong(() => snapshot(keeper, history), enough)
  const { 'full-disk': _full, 'read-only': _readOnly, ...anywhere } = MACHINE
  const along = (table: typeof MACHINE, more: Makes = []) => {
    const makes = [...makesOn(stage, table), ...more]
    return track(history, { makes, random: random.fork(), longestCalmMs: 700, enough })
  }
  // no sidecar starts while the agent is away, so neither happens beside the other
  const ofHolder = holder === null ? [] : makesOn(holder, HOLDER)
  await Promise.all([
    people.writeAlong(enough),
    along(keeper.hasDisk ? MACHINE : anywhere, ofHolder),
    along(SERVICE),
    along(SERVICE),
    along(OTHERS),
    along(DEATHS),
    looking,
  ])
}

/** Everything is well again: what waited must get through, and every chat must work. */
async function heal(stage: Stage, cast: Cast, endGiving: () => void): Promise<void> {
  const { service, proxy, keeper, bot } = stage
  await service.surely((control) => control.clearFaults({}))
  await proxy.up()
  cast.holder?.resume()
  keeper.emptyDisk()
  keeper.moveClock(0)
  if (keeper.bot === null) await keeper.start()
  const untilMs = performance.now() + HEAL_MS
  // the bot's own look at /me is what tells the sidecar first that a lie is over
  await bot.call('GET', '/me')
  await untilReady(keeper.admin ?? '', HEAL_MS)
  await pause(GIVING_MS)
  endGiving()
  await untilHeard(stage, untilMs)
  await cast.settle([keeper], cast.hasNews && bot.hasWebhook)
}

async function snapshot(keeper: Keeper, history: History): Promise<void> {
  const look = await keeper.look()
  if (look !== null) history.remembered.push({ atMs: Date.now(), chats: look.chats })
}

async function evidence(
  stage: Stage,
  cast: Cast,
  { look, outbox }: Pick<Evidence, 'outbox'> & { look: Awaited<ReturnType<Keeper['look']>> },
): Promise<Evidence> {
  const { keeper } = stage
  return {
    ...(await evidenceOfService({ ...stage, cast })),
    keys: look?.keys ?? null,
    chats: look?.chats ?? null,
    log: keeper.output(),
    atRest: keeper.atRest(),
    secrets: [...keeper.secrets, ...cast.tokens],
    outbox,
  }
}
