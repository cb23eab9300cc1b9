/** What goes wrong, by name. Everything that is begun is also ended, so that a run can heal. */
import { setTimeout as pause } from 'node:timers/promises'
import { ControlError } from '../../src/sandbox/control/operation.ts'
import type { Control } from '../../src/sandbox/control/table.ts'
import type { FAULT_ROUTES, FaultName, FaultOptions } from '../../src/sandbox/faults/table.ts'
import { giantCertificate } from '../support/faults-certificates.ts'
import type { Proxy, Toxic } from '../support/faults-proxy.ts'
import type { Random } from '../support/faults-random.ts'
import { NotStartedError } from '../support/sidecar-process.ts'
import type { Bot } from './bot.ts'
import type { History, Trouble } from './history.ts'
import type { Keeper } from './keeper.ts'
import type { People } from './people.ts'
import type { Service } from './service.ts'

/** Everything that trouble can be made for. */
export interface Stage {
  service: Service
  proxy: Proxy
  keeper: Keeper
  people: People
  bot: Bot
  history: History
}

type Make = (stage: Stage, random: Random) => Promise<void>

/** Calls that a fault may strike. */
const ROUTES: (typeof FAULT_ROUTES)[number][] = [
  'getUpdates',
  'sendMessage',
  'getChat',
  'getChatKeys',
  'getUserKey',
  'getMe',
]
const HOUR_MS = 3_600_000

/** The process and its surroundings; one at a time. */
export const MACHINE: Partial<Record<Trouble, Make>> = {
  kill: async ({ keeper }, random) => {
    await keeper.stop('SIGKILL')
    await pause(random.between(0, 400))
    await keeper.start()
  },
  restart: async ({ keeper }) => {
    await keeper.stop('SIGTERM')
    await keeper.start()
  },
  'full-disk': async ({ keeper }, random) => {
    keeper.fillDisk()
    await pause(random.between(500, 1500))
    if (random.oneIn(3)) await keeper.stop('SIGKILL')
    keeper.emptyDisk()
    if (keeper.bot === null) await keeper.start()
  },
  'read-only': async ({ keeper, history }) => {
    await keeper.stop('SIGKILL')
    if (keeper.remount('ro')) {
      const refused = await keeper.start().then(
        () => 'it started',
        (error: unknown) => (error instanceof NotStartedError ? error.exitCode : 'another error'),
      )
      if (refused !== 1) history.breaches.push(`I3: on a read-only disk: ${refused}, not exit 1`)
      if (refused === 'it started') await keeper.stop('SIGKILL')
      keeper.remount('rw')
    }
    await keeper.start()
  },
  // a sidecar that knows nobody's certificate, and a service that shows none
  'no-certificates': async ({ service, keeper, people }, random) => {
    const { alice, bob } = service.home
    let ids = await hideKeys(service, [])
    await keeper.stop('SIGTERM')
    await keeper.start()
    await people.write(alice.id, people.chats.aliceWithBot)
    await people.write(bob.id, people.chats.encryptedGroup)
    for (let times = random.between(8, 20); times > 0; times--) {
      await pause(250)
      // a service that was killed meanwhile has forgotten it
      ids = await hideKeys(service, ids)
    }
    for (const id of ids) await service.surely((control) => control.clearFaults({ id }))
  },
  clock: async ({ keeper }, random) => {
    const far = [-8760, -1, 1, 24 * 32, 8760].map((hours) => hours * HOUR_MS)
    keeper.moveClock(random.pick(keeper.jumpsOf([...far, ...far, 200_000, -200_000])))
    await pause(random.between(400, 1500))
    keeper.moveClock(0)
  },
}

/** The network and the service; several may come together. */
export const SERVICE: Partial<Record<Trouble, Make>> = {
  down: async ({ proxy }, random) => {
    await proxy.down()
    await pause(random.between(200, 1500))
    await proxy.up()
  },
  'connections-cut': async ({ proxy }, random) => {
    for (let times = random.between(1, 4); times > 0; times--) {
      proxy.cutAll(random.pick(['end', 'reset']))
      await pause(random.between(20, 400))
    }
  },
  latency: (stage, random) =>
    toxic(stage, random, { kind: 'latency', ms: random.between(50, 400), jitterMs: 200 }),
  slices: (stage, random) =>
    toxic(stage, random, { kind: 'slicer', bytes: random.between(2, 64), delayMs: 0 }),
  'half-open': (stage, random) => toxic(stage, random, { kind: 'half-open' }),
  'service-black-holed': (stage, random) => toxic(stage, random, { kind: 'black-hole' }),
  'cut-answers': (stage, random) =>
    toxic(stage, random, { kind: 'cut', oneIn: 3, how: random.pick(['end', 'reset']) }),
  'lost-sends': (stage, random) =>
    fault(stage, random, random.pick(['lost-answer', 'half-answer']), {
      route: 'sendMessage',
      times: random.between(1, 4),
    }),
  'spoilt-answers': (stage, random) =>
    fault(stage, random, random.pick(['invalid-json', 'half-answer', 'html', 'redirect', 'cut']), {
      route: random.pick(ROUTES),
      times: random.between(1, 4),
    }),
  refusals: (stage, random) => {
    const code = random.pick(['rate_limited', 'flood_wait'])
    // the body of the first is always 60, and its header has the wait; of the other the longer counts
    const times = { retryAfter: code === 'rate_limited' ? 60 : 2, retryAfterHeader: '1' }
    const where = { route: random.pick(ROUTES), times: random.between(1, 5) }
    return fault(stage, random, 'error', { status: 429, code, ...times, ...where })
  },
  errors: (stage, random) =>
    fault(stage, random, 'error', {
      status: random.pick([500, 502, 503]),
      code: 'internal',
      route: random.pick(ROUTES),
      times: random.between(1, 5),
    }),
  'late-answers': (stage, random) =>
    fault(stage, random, 'delay', {
      route: random.pick(ROUTES),
      delayMs: random.between(300, 2500),
      times: random.between(1, 3),
    }),
  redelivery: (stage, random) => fault(stage, random, 'keep-confirmed', {}),
  'claims-open': async (stage, random) => {
    const { aliceWithBot, bobWithBot, encryptedGroup } = stage.people.chats
    const { alice, bob } = stage.service.home
    const chatId = random.pick([aliceWithBot, bobWithBot, encryptedGroup])
    const options = { chatId, mode: 'open', historyVisible: true } as const
    const talk = async (): Promise<void> => {
      for (let times = 3; times > 0; times--) {
        stage.bot.speak(chatId)
        await stage.people.write(chatId === bobWithBot ? bob.id : alice.id, chatId)
        await pause(random.between(100, 500))
      }
    }
    const claim = { chatId, isApprovers: chatId === aliceWithBot, toMs: Infinity }
    stage.history.claims.push(claim)
    await Promise.all([fault(stage, random, 'claim-mode', options), talk()])
    claim.toMs = Date.now()
  },
  'claims-no-key': (stage, random) => fault(stage, random, 'claim-unprotected', {}),
  'claims-other-key': (stage, random) =>
    fault(stage, random, 'claim-fingerprint', { fingerprint: random.hex(40) }),
}

/** The service's process; it goes on in its file. */
export const DEATHS: Partial<Record<Trouble, Make>> = {
  'service-killed': async ({ service }, random) => {
    await pause(random.between(200, 2500))
    await service.killAndRestart(random.between(0, 800))
  },
}

/** The bot and the people. */
export const OTHERS: Partial<Record<Trouble, Make>> = {
  'bot-dies': async ({ bot }, random) => {
    await bot.die()
    await pause(random.between(0, 300))
    bot.start()
  },
  poison: async ({ people, service }, random) => {
    const { alice, bob } = service.home
    const { aliceWithBot, encryptedGroup } = people.chats
    for (let times = random.between(2, 6); times > 0; times--) {
      const chatId = random.pick([aliceWithBot, encryptedGroup])
      await people.writePoison(
        chatId === aliceWithBot ? alice.id : random.pick([alice.id, bob.id]),
        chatId,
      )
    }
  },
  'costly-key': async ({ service, people }, random) => {
    const made = giantCertificate({ bits: 8192, exponentBits: 8192, signatures: 2 })
    const key = { publicKey: made.armored, fingerprint: made.fingerprint }
    const username = `costly_${random.hex(8)}`
    const chatId = people.chats.encryptedGroup
    const { id: userId } = await service.surely((control) => newPerson(control, username))
    await service.surely((control) => control.publishKey({ userId, ...key }))
    await service.surely((control) => control.join({ chatId, userId }))
    await pause(random.between(300, 1000))
    await service.surely((control) => leave(control, { chatId, userId }))
  },
  turned: async ({ service, people }) => {
    const chatId = people.chats.turningGroup
    await service.surely((control) => control.changeChat({ chatId, historyVisible: false }))
  },
}

/** A person of that name, made by this try or by one that was never answered. */
async function newPerson(control: Control, username: string): Promise<{ id: number }> {
  try {
    return await control.addPerson({ username })
  } catch (error) {
    const known = (await control.people({})).find((person) => person.username === username)
    if (known === undefined) throw error
    return known
  }
}

/** Leaves, unless a try that was never answered did already. */
async function leave(control: Control, o: { chatId: number; userId: number }): Promise<void> {
  await control.leave(o).catch((error: unknown) => {
    if (!(error instanceof ControlError)) throw error
  })
}

/** The service shows nobody's certificate. @returns the ids of the faults; `ids` as far as they last */
async function hideKeys(service: Service, ids: readonly number[]): Promise<number[]> {
  const faults = await service.surely((control) => control.faults({}))
  if (ids.length > 0 && ids.every((id) => faults.some((one) => one.id === id))) return [...ids]
  const made: number[] = []
  for (const route of ['getChatKeys', 'getUserKey'] as const) {
    const asked = { name: 'error', status: 500, code: 'internal', route } as const
    made.push((await service.surely((control) => control.fault(asked))).id)
  }
  return made
}

async function toxic({ proxy }: Stage, random: Random, kind: Toxic): Promise<void> {
  const heal = proxy.poison(kind)
  await pause(random.between(300, 1500))
  heal()
}

async function fault({ service }: Stage, random: Random, name: FaultName, options: FaultOptions) {
  const { id } = await service.surely((control) => control.fault({ name, ...options }))
  await pause(random.between(300, 1500))
  await service.surely((control) => control.clearFaults({ id }))
}
