/** What goes wrong where several sidecars share a database. Whatever is begun is also ended. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'
import { NotStartedError } from '../support/sidecar-process.ts'
import type { Bot } from './bot.ts'
import { fill, lock, strikeQueries } from './database-acts.ts'
import type { Fleet, Replica } from './fleet.ts'
import type { History, Trouble } from './history.ts'
import type { People } from './people.ts'
import type { Service } from './service.ts'

type Make = (fleet: Fleet, random: Random) => Promise<void>

const HOUR_MS = 3_600_000
/** For so long a write whose answer was lost may still be made: then the server rolls it back. */
const LATE_COMMIT_MS = 3500

/** Lets something be so for some time. */
async function whileOn(set: (isOn: boolean) => void, forMs: number): Promise<void> {
  set(true)
  await pause(forMs)
  set(false)
}

/** Of one sidecar, one at a time. */
export const SIDECAR: Partial<
  Record<Trouble, (replica: Replica, random: Random) => Promise<void>>
> = {
  kill: async ({ keeper }, random) => {
    await keeper.stop('SIGKILL')
    await pause(random.between(0, 3000))
    await startAgain({ keeper })
  },
  restart: async ({ keeper }) => {
    await keeper.stop('SIGTERM')
    await startAgain({ keeper })
  },
  stopped: ({ keeper }, random) =>
    whileOn(
      (isOn) => (isOn ? keeper.pause() : keeper.resume()),
      random.pick([300, 1500, 3000, 6000, 8000, 30_000]),
    ),
  clock: ({ keeper }, random) => {
    const far = [200_000, HOUR_MS, 40 * 24 * HOUR_MS].flatMap((ms) => [-ms, ms])
    const jumpMs = random.pick(keeper.jumpsOf(far))
    return whileOn((isOn) => keeper.moveClock(isOn ? jumpMs : 0), random.between(400, 1500))
  },
  'database-black-holed': ({ relay }, random) =>
    whileOn((isOn) => relay.blackHole(isOn), random.between(500, 5000)),
  'database-slow': ({ relay }, random) => {
    const ms = random.between(100, 1500)
    return whileOn((isOn) => relay.delay(isOn ? ms : 0), random.between(500, 6000))
  },
  'bot-black-holed': async ({ door }, random) => {
    const heal = door.poison({ kind: 'black-hole' })
    await pause(random.between(300, 4000))
    heal()
  },
  'commits-lost': ({ relay }, random) =>
    whileOn((isOn) => relay.loseCommits(isOn), random.between(100, 1500)),
}

/** Of the database and the ways to it. */
export const DATABASE: Partial<Record<Trouble, Make>> = {
  'database-cut': async (fleet, random) => {
    const { relay } = random.pick(fleet.replicas)
    for (let times = random.between(1, 3); times > 0; times--) {
      relay.cut()
      await pause(random.between(20, 400))
    }
  },
  'database-down': (fleet, random) => {
    const { relay } = random.pick(fleet.replicas)
    return whileOn((isOn) => (isOn ? relay.down() : relay.up()), random.between(500, 4000))
  },
  'database-silent': (fleet, random) => {
    const { relay } = random.pick(fleet.replicas)
    return whileOn((isOn) => (isOn ? relay.freeze() : relay.thaw()), random.pick([700, 2500, 7000]))
  },
  'database-restarted': async (fleet, random) => {
    fleet.restartDatabase(random.pick(['fast', 'immediate']))
    await pause(random.between(500, 2000))
  },
  'database-failed-over': async (fleet, random) => {
    const former = fleet.failOver()
    await pause(random.between(200, 2000))
    if (random.oneIn(2)) {
      await fleet.leadAstray(random.pick(fleet.replicas), former, random.between(500, 2500))
    }
    await fleet.addStandby()
  },
}

/** Of what the sidecars ask the database for. */
export const QUERIES: Partial<Record<Trouble, Make>> = {
  'query-ended': ({ databaseUrl }, random) =>
    strikeQueries(databaseUrl, 'pg_terminate_backend', random),
  'query-cancelled': ({ databaseUrl }, random) =>
    strikeQueries(databaseUrl, 'pg_cancel_backend', random),
  'row-locked': ({ databaseUrl }, random) => lock(databaseUrl, 'row', random),
  'table-locked': ({ databaseUrl }, random) => lock(databaseUrl, 'table', random),
  'database-full': async (fleet, random) => {
    await fill(fleet.databaseUrl)
    await pause(random.between(500, 4000))
    await fleet.freeDisk()
  },
}

/** Of the bot's key, by its operator. */
export const KEY: Partial<Record<Trouble, Make>> = {
  rotation: async (fleet, random) => {
    await random
      .pick(fleet.replicas)
      .keeper.operate((control) => control.keyRotate())
      .catch(() => undefined)
    await pause(random.between(500, 3000))
  },
}

/** Who an operator decides about, with whoever is near. */
export interface OperatorStage {
  fleet: Fleet
  service: Service
  people: People
  bot: Bot
  history: History
}

/** Of an operator, at any of the sidecars. */
export const OPERATOR: Partial<
  Record<Trouble, (stage: OperatorStage, random: Random) => Promise<void>>
> = {
  // who has the turn stands still before words leave, and the other one makes them
  'stopped-in-edit': async ({ fleet, service }, random) => {
    const { keeper } = random.pick(fleet.replicas)
    const slow = { name: 'delay', route: 'getChatKeys', delayMs: 800 } as const
    const { id } = await service.surely((control) => control.fault(slow))
    await pause(random.between(300, 1200))
    keeper.pause()
    await service.surely((control) => control.clearFaults({ id }))
    await pause(8000)
    keeper.resume()
  },
  bound: async ({ fleet, people, service }, random) => {
    const { keeper } = random.pick(fleet.replicas)
    const bound = { chatId: people.chats.aliceWithBot, userId: service.home.alice.id }
    await keeper.operate((control) => control.chatBind(bound)).catch(() => undefined)
  },
  // the service lies twice: before the operator lets readable words in again, and after it was seen to
  allowed: async ({ fleet, people, service, bot, history }, random) => {
    const chatId = people.chats.turningGroup
    await service.surely((control) => control.changeChat({ chatId, historyVisible: false }))
    const claim = { name: 'claim-mode', chatId, mode: 'open', historyVisible: true } as const
    const first = await service.surely((control) => control.fault(claim))
    const { keeper } = random.pick(fleet.replicas)
    const allowance = { chatId, fromMs: Date.now(), toMs: Infinity }
    history.allowances.push(allowance)
    const lie = { chatId, isApprovers: false, toMs: Infinity }
    history.claims.push(lie)
    const allow = keeper.operate((control) => control.chatAllowReadable({ chatIds: [chatId] }))
    const lateMs = await allow.then(
      () => 0,
      () => LATE_COMMIT_MS,
    )
    allowance.toMs = Date.now() + lateMs
    bot.speak(chatId)
    await pause(random.between(100, 600))
    await service.surely((control) => control.clearFaults({ id: first.id }))
    await bot.look(chatId)
    const second = await service.surely((control) => control.fault(claim))
    for (let times = 4; times > 0; times--) {
      bot.speak(chatId)
      await pause(random.between(300, 1500))
    }
    await service.surely((control) => control.clearFaults({ id: second.id }))
    lie.toMs = Date.now()
  },
}

/** Starts a sidecar; while its database is away it does not, and is tried again. */
export async function startAgain({ keeper }: Pick<Replica, 'keeper'>): Promise<void> {
  for (;;) {
    try {
      return await keeper.start()
    } catch (error) {
      if (!(error instanceof NotStartedError)) throw error
      await pause(300)
    }
  }
}
