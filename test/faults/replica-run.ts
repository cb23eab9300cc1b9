/** One run with several sidecars on one PostgreSQL: as `one-run.ts`, with the troubles of many. */
import { setTimeout as pause } from 'node:timers/promises'
import { startProxy, type Proxy } from '../support/faults-proxy.ts'
import { Random } from '../support/faults-random.ts'
import { untilReady } from '../support/sidecar-process.ts'
import { Bot } from './bot.ts'
import { check, type Evidence, type Outcome } from './checker.ts'
import { Cast, GIVING_MS } from './cast.ts'
import { evidenceOfService } from './evidence.ts'
import { storedChats } from './database-acts.ts'
import { Fleet } from './fleet.ts'
import { newHistory, type History, type Trouble } from './history.ts'
import { HOLDER } from './holder.ts'
import { lookAlong } from './look-along.ts'
import { People } from './people.ts'
import { DATABASE, KEY, OPERATOR, QUERIES, SIDECAR, startAgain } from './replica-troubles.ts'
import { Service } from './service.ts'
import { makesOn, track, type Makes } from './track.ts'
import { OTHERS, SERVICE, type Stage } from './troubles.ts'
import { untilHeard } from './until-heard.ts'

const HEAL_MS = 150_000
/** Of those that need no look at one sidecar. */
const AT_SERVICE = [
  'lost-sends',
  'errors',
  'late-answers',
  'claims-open',
  'connections-cut',
  'service-black-holed',
  'redelivery',
] as const
const PEOPLE = ['bot-dies', 'poison', 'turned'] as const

interface Many {
  service: Service
  proxy: Proxy
  fleet: Fleet
  people: People
  bot: Bot
  cast: Cast
  history: History
}

/**
 * Runs one seed.
 * @param o `count` of sidecars; `troubleMs` how long things go wrong; `hasWebhook` by the seed when
 *   not said
 */
export async function runOnReplicas(
  seed: number,
  o: { count: number; troubleMs: number; hasWebhook?: boolean },
): Promise<Outcome> {
  const random = new Random(seed)
  const history = newHistory(seed)
  await using service = await Service.start()
  await using proxy = await startProxy(service.url, random.fork())
  const people = await People.settle(service, { history, random: random.fork() })
  const { token } = service.home.bot
  await using cast = new Cast({ service, people, history, random: random.fork() })
  const cacheSeconds = random.pick([1, 5, 60])
  await using fleet = await Fleet.settle({
    upstreamUrl: proxy.url,
    cast,
    token,
    history,
    cacheSeconds,
    leavingFactor: random.pick([0, 0.05, 1]),
    random: random.fork(),
    count: o.count,
  })
  const hasWebhook = o.hasWebhook ?? random.oneIn(2)
  const bot = new Bot({ keeper: fleet, history, random: random.fork(), hasWebhook })
  const many: Many = { service, proxy, fleet, people, bot, cast, history }
  try {
    await begin(many)
    await cast.along(async (endGiving) => {
      await trouble(many, random.fork(), o.troubleMs)
      await heal(many, endGiving)
    })
  } catch (error) {
    history.breaches.push(`the run could not go on: ${String(error)}`)
  }
  await bot.die()
  const found = await evidence(many)
  await Promise.all(fleet.replicas.map(({ keeper }) => keeper.stop('SIGTERM')))
  return check(history, { ...found, log: logOf(fleet) })
}

/** All start together on an empty database; ends when all are ready with one key. */
async function begin({ fleet, bot, people, cast, history }: Many): Promise<void> {
  await cast.holder?.start()
  await fleet.start()
  await Promise.all(fleet.replicas.map(({ keeper }) => untilReady(keeper.admin ?? '', HEAL_MS)))
  bot.start()
  for (const chatId of Object.values(people.chats)) await bot.call('GET', `/chats/${chatId}`)
  await cast.enter(fleet)
  await look(fleet, history)
}

async function trouble(many: Many, random: Random, forMs: number): Promise<void> {
  const enough = AbortSignal.timeout(forMs)
  const { fleet, people, cast, history } = many
  const [first] = fleet.replicas
  if (first === undefined) throw new Error('no replica')
  const stage: Stage = { ...many, keeper: first.keeper }
  const onStage = (table: typeof SERVICE, names: readonly Trouble[]) =>
    names.map((name) => [name, (r: Random) => table[name]?.(stage, r)] as const)
  const along = (makes: Makes) =>
    track(history, { makes, random: random.fork(), longestCalmMs: 900, enough })
  await Promise.all([
    people.writeAlong(enough),
    ...fleet.replicas.map((one) => along(makesOn(one, SIDECAR))),
    along(makesOn(fleet, DATABASE)),
    along(makesOn(fleet, QUERIES)),
    along(makesOn(fleet, KEY)),
    along(makesOn(many, OPERATOR)),
    ...(cast.holder === null ? [] : [along(makesOn(cast.holder, HOLDER))]),
    along(onStage(SERVICE, AT_SERVICE)),
    along(onStage(OTHERS, PEOPLE)),
    lookAlong(() => look(fleet, history), enough),
    lookAlong(() => many.bot.look(random.pick(Object.values(people.chats))), enough),
  ])
}

/** Everything is well again: what waited must get through, and every chat must work. */
async function heal(many: Many, endGiving: () => void): Promise<void> {
  const { service, proxy, fleet, cast, history } = many
  cast.holder?.resume()
  await service.surely((control) => control.clearFaults({}))
  await proxy.up()
  for (const { keeper, relay } of fleet.replicas) {
    relay.up()
    relay.thaw()
    relay.blackHole(false)
    relay.loseCommits(false)
    relay.delay(0)
    keeper.resume()
    keeper.moveClock(0)
    if (keeper.bot === null) await startAgain({ keeper })
  }
  await fleet.freeDisk()
  const healedMs = performance.now()
  const untilMs = healedMs + HEAL_MS
  await Promise.all(fleet.replicas.map(({ keeper }) => untilReady(keeper.admin ?? '', HEAL_MS)))
  history.readyAfterMs = performance.now() - healedMs
  await pause(GIVING_MS)
  endGiving()
  await untilHeard(many, untilMs)
  const keepers = fleet.replicas.map(({ keeper }) => keeper)
  await cast.settle(keepers, cast.hasNews && many.bot.hasWebhook)
}

/** What each sidecar has in memory of the chats, and what the store has. */
async function look(fleet: Fleet, history: History): Promise<void> {
  const askedAtMs = Date.now()
  const [looks, stored] = await Promise.all([fleet.looks(), storedChats(fleet.databaseUrl)])
  const atMs = Date.now()
  for (const { chats, by } of looks) history.remembered.push({ atMs, askedAtMs, by, chats })
  if (stored !== null) history.remembered.push({ atMs, askedAtMs, chats: stored })
}

async function evidence(many: Many): Promise<Omit<Evidence, 'log'>> {
  const { fleet, cast } = many
  const [one] = await fleet.looks()
  const lists = await Promise.all(fleet.replicas.map(({ keeper }) => keeper.outbox()))
  return {
    ...(await evidenceOfService(many)),
    keys: one?.keys ?? null,
    chats: one?.chats ?? null,
    rotates: true,
    atRest: [fleet.dump(), ...fleet.replicas.flatMap(({ keeper }) => keeper.atRest())],
    secrets: [...fleet.secrets, ...cast.tokens],
    outbox: lists.find((list) => list !== null) ?? null,
  }
}

const logOf = ({ replicas }: Fleet): string =>
  replicas.map(({ keeper }, n) => `sidecar ${n}:\n${keeper.output()}`).join('\n')
