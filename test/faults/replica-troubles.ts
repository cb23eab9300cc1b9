/** What goes wrong where several sidecars share a database. Whatever is begun is also ended. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'
import { NotStartedError } from '../support/sidecar-process.ts'
import type { Fleet, Replica } from './fleet.ts'
import type { Trouble } from './history.ts'

type Make = (fleet: Fleet, random: Random) => Promise<void>

const HOUR_MS = 3_600_000

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
  stopped: async ({ keeper }, random) => {
    keeper.pause()
    await pause(random.pick([300, 1500, 3000, 6000, 8000]))
    keeper.resume()
  },
  clock: async ({ keeper }, random) => {
    keeper.moveClock(random.pick([-1, 1]) * random.pick([200_000, HOUR_MS]))
    await pause(random.between(400, 1500))
    keeper.moveClock(0)
  },
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
  'database-down': async (fleet, random) => {
    const { relay } = random.pick(fleet.replicas)
    relay.down()
    await pause(random.between(500, 4000))
    relay.up()
  },
  'database-silent': async (fleet, random) => {
    const { relay } = random.pick(fleet.replicas)
    relay.freeze()
    await pause(random.pick([700, 2500, 7000]))
    relay.thaw()
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

/** Of the bot's key, by its operator. */
export const KEY: Partial<Record<Trouble, Make>> = {
  rotation: async (fleet, random) => {
    await random
      .pick(fleet.replicas)
      .keeper.rotate()
      .catch(() => undefined)
    await pause(random.between(500, 3000))
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
