/** One run with several sidecars on one PostgreSQL: as `one-run.ts`, with the troubles of many. */
import { setTimeout as pause } from 'node:timers/promises'
import { startProxy, type Proxy } from '../support/faults-proxy.ts'
import { Random } from '../support/faults-random.ts'
import { untilReady } from '../support/sidecar-process.ts'
import { Bot } from './bot.ts'
import { check, type Evidence, type Outcome } from './checker.ts'
import { Fleet } from './fleet.ts'
import { during, newHistory, type History, type Trouble } from './history.ts'
import { People } from './people.ts'
import { DATABASE, KEY, SIDECAR, startAgain } from './replica-troubles.ts'
import { Service } from './service.ts'
import { OTHERS, SERVICE, type Stage } from './troubles.ts'

const HEAL_MS = 150_000
const LOOK_MS = 500
/** Of those that need no look at one sidecar. */
const AT_SERVICE = [
  'lost-sends',
  'errors',
  'late-answers',
  'claims-open',
  'connections-cut',
] as const
const PEOPLE = ['bot-dies', 'poison', 'turned'] as const

interface Many {
  service: Service
  proxy: Proxy
  fleet: Fleet
  people: People
  bot: Bot
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
  const cacheSeconds = random.pick([1, 5, 60])
  await using fleet = await Fleet.settle({
    upstreamUrl: proxy.url,
    token,
    history,
    cacheSeconds,
    leavingFactor: random.pick([0, 0.05, 1]),
    random: random.fork(),
    count: o.count,
  })
  const hasWebhook = o.hasWebhook ?? random.oneIn(2)
  const bot = new Bot({ keeper: fleet, history, random: random.fork(), hasWebhook })
  const many: Many = { service, proxy, fleet, people, bot, history }
  try {
    await begin(many)
    await trouble(many, random.fork(), o.troubleMs)
    await heal(many)
  } catch (error) {
    history.breaches.push(`the run could not go on: ${String(error)}`)
  }
  await bot.die()
  const found = await evidence(many)
  await Promise.all(fleet.replicas.map(({ keeper }) => keeper.stop('SIGTERM')))
  return check(history, { ...found, log: logOf(fleet) })
}

/** All start together on an empty database; ends when all are ready with one key. */
async function begin({ fleet, bot, people, history }: Many): Promise<void> {
  await fleet.start()
  await Promise.all(fleet.replicas.map(({ keeper }) => untilReady(keeper.admin ?? '', HEAL_MS)))
  bot.start()
  for (const chatId of Object.values(people.chats)) await bot.call('GET', `/chats/${chatId}`)
  await look(fleet, history)
}

async function trouble(many: Many, random: Random, forMs: number): Promise<void> {
  const enough = AbortSignal.timeout(forMs)
  const { fleet, people, history } = many
  const [first] = fleet.replicas
  if (first === undefined) throw new Error('no replica')
  const stage: Stage = { ...many, keeper: first.keeper }
  const onStage = (table: typeof SERVICE, names: readonly Trouble[]) =>
    names.map((name) => [name, (r: Random) => table[name]?.(stage, r)] as const)
  const onOne = <On>(on: On, table: Partial<Record<Trouble, Make<On>>>): Makes =>
    Object.entries(table).map(([name, make]) => [name as Trouble, (r: Random) => make(on, r)])
  await Promise.all([
    people.writeAlong(enough),
    ...fleet.replicas.map((one) =>
      track(history, { makes: onOne(one, SIDECAR), random: random.fork(), enough }),
    ),
    track(history, { makes: onOne(fleet, DATABASE), random: random.fork(), enough }),
    track(history, { makes: onOne(fleet, KEY), random: random.fork(), enough }),
    track(history, { makes: onStage(SERVICE, AT_SERVICE), random: random.fork(), enough }),
    track(history, { makes: onStage(OTHERS, PEOPLE), random: random.fork(), enough }),
    lookAlong(fleet, history, enough),
  ])
}

type Make<On> = (on: On, random: Random) => Promise<void>
type Makes = readonly (readonly [Trouble, (random: Random) => Promise<void> | undefined])[]

/** Makes one trouble after the other, in an order that follows from chance. */
async function track(
  history: History,
  o: { makes: Makes; random: Random; enough: AbortSignal },
): Promise<void> {
  while (!o.enough.aborted) {
    for (const [name, make] of o.random.shuffled(o.makes)) {
      const random = o.random.fork()
      await pause(random.between(100, 900), undefined, { signal: o.enough }).catch(() => {})
      if (o.enough.aborted) return
      await during(history, name, async () => await make(random))
    }
  }
}

/** Everything is well again: what waited must get through, and every chat must work. */
async function heal({ service, proxy, fleet, people, bot, history }: Many): Promise<void> {
  await service.surely((control) => control.clearFaults({}))
  await proxy.up()
  for (const { keeper, relay } of fleet.replicas) {
    relay.up()
    relay.thaw()
    keeper.resume()
    keeper.moveClock(0)
    if (keeper.bot === null) await startAgain({ keeper })
  }
  const untilMs = performance.now() + HEAL_MS
  await Promise.all(fleet.replicas.map(({ keeper }) => untilReady(keeper.admin ?? '', HEAL_MS)))
  const { alice, bob } = service.home
  const { aliceWithBot, bobWithBot, ...groups } = people.chats
  const last = [
    await people.surelyWrite(alice.id, aliceWithBot),
    await people.surelyWrite(bob.id, bobWithBot),
  ]
  for (const chatId of Object.values(groups)) {
    last.push(await people.surelyWrite(alice.id, chatId), await people.surelyWrite(bob.id, chatId))
  }
  const heard = () => new Set(history.handled.map(({ text }) => text?.slice('/say '.length)))
  const missing = () => last.filter((canary) => !heard().has(canary)).length
  while (performance.now() < untilMs) {
    if (missing() === 0 && bot.waiting === 0) return
    await pause(100)
  }
  const open = [...history.said.values()].filter(({ accepted }) => accepted.length === 0)
  const why = [...new Set(open.map(({ lastRefusal }) => lastRefusal ?? 'no answer'))].join(', ')
  history.breaches.push(
    `I6: after everything had healed, ${missing()} messages were not heard and ${bot.waiting} sends not answered (${why})`,
  )
}

async function lookAlong(fleet: Fleet, history: History, enough: AbortSignal): Promise<void> {
  while (!enough.aborted) {
    await look(fleet, history)
    await pause(LOOK_MS, undefined, { signal: enough }).catch(() => {})
  }
}

/** What any sidecar says of the chats was seen by all of them. */
async function look(fleet: Fleet, history: History): Promise<void> {
  const askedAtMs = Date.now()
  for (const { chats } of await fleet.looks()) {
    history.remembered.push({ atMs: Date.now(), askedAtMs, chats })
  }
}

async function evidence(many: Many): Promise<Omit<Evidence, 'log'>> {
  const { service, proxy, fleet, people } = many
  const { alice, bob, bot } = service.home
  const inboxes = [alice, bob].map(({ id }) =>
    service.surely((control) => control.inbox({ userId: id })),
  )
  const phones = await Promise.all(inboxes)
  const { key } = await service.surely((control) => control.bot({ botId: bot.id }))
  const [one] = await fleet.looks()
  return {
    service: await service.surely((control) => control.transcript({})),
    wire: proxy.sent(),
    phones: phones.map(({ inbox }) => inbox),
    published: key?.fingerprint ?? null,
    keys: one?.keys ?? null,
    chats: one?.chats ?? null,
    rotates: true,
    atRest: [fleet.dump(), ...fleet.replicas.flatMap(({ keeper }) => keeper.atRest())],
    secrets: fleet.secrets,
    encryptedChats: [
      people.chats.aliceWithBot,
      people.chats.bobWithBot,
      people.chats.encryptedGroup,
    ],
  }
}

const logOf = ({ replicas }: Fleet): string =>
  replicas.map(({ keeper }) => keeper.output()).join('\n')
