import type { EndpointName } from '../../../src/api/endpoints.ts'
import { readUserKey } from '../../../src/api/user-key.ts'
import type { Client } from '../client.ts'
import type { ServiceLimits } from '../limits.ts'
import type { PerWay, Person, RoomOptions, MembershipOptions, Way } from '../stage.ts'
import { ok } from '../expect.ts'
import { until } from '../steps.ts'
import { newHandle, type Surroundings } from './home.ts'
import { ownerOf } from './owner.ts'
import { personOf } from './person.ts'
import { setMembership, makeRoom } from './rooms.ts'
import { words } from './words.ts'

/** No real certificate; the service does not check it. */
const A_KEY = {
  publicKey: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n',
  fingerprint: 'B'.repeat(40),
}

export interface StageParts extends Surroundings {
  way: Way
  limits: ServiceLimits
  bot: Client
  past: Client
  /** Makes a client straight to the service with another bot's token. */
  clientOf: (token: string) => Client
  handOver: (token: string) => Promise<void>
  now: () => number
  /** Moves the clock of the service, and the sidecar's. */
  advance: (ms: number) => Promise<void>
}

/** The means of the cases, by the control of the service. */
export function stageOf({ way, limits, bot, past, clientOf, ...parts }: StageParts) {
  const { control, home } = parts
  const botId = home.bot.id
  const alice = personOf(control, { ...home.alice, botId })
  const isProtected = way === 'protected'
  return {
    way,
    /** What the service enforces. */
    limits,
    me: { id: botId, username: home.bot.username },
    /** The bot under test. */
    bot,
    /** The same bot at the service itself, past the sidecar. */
    past,
    alice,
    bob: personOf(control, { ...home.bob, botId }),
    owner: ownerOf(control, { botId, handOver: parts.handOver }),
    /** The expectation for this way. */
    per: <T>(expected: PerWay<T>) => (way in expected ? expected[way]! : expected.service),
    /** Words that nobody wrote before. */
    words,

    /** Alice's private chat with the bot, or another person's. */
    privateChat: async (person: Person = alice) =>
      (await control.addPrivateChat({ userId: person.id, botId })).id,
    /** A group of alice, bob and the bot: readable, but encrypted in the way `protected`. */
    group: () => Promise.resolve(isProtected ? home.encryptedGroup : home.readableGroup),
    room: (o: RoomOptions = {}) => makeRoom(parts, { readable: !isProtected, ...o }),
    changeRoom: (chatId: number, { readable }: { readable: boolean }) =>
      control.changeChat({ chatId, historyVisible: readable }),
    join: (chatId: number, userId: number) => control.join({ chatId, userId }),
    setMembership: (chatId: number, userId: number, o: MembershipOptions) =>
      setMembership(control, { chatId, userId, ...o }),
    /** A new person; one without a phone has published no key. */
    person: async ({ phone }: { phone: boolean }) => {
      const made = await control.addPerson({ username: newHandle('somebody') })
      if (phone) await control.givePhone({ userId: made.id })
      return personOf(control, { ...made, botId })
    },
    /**
     * Another bot, always open and at the service itself.
     * @param o `listens`: its privacy mode is off; `key`: it published one
     */
    otherBot: async ({ listens = false, key = false } = {}) => {
      const made = await control.addBot({ username: newHandle('other_bot'), privacyMode: !listens })
      if (key) await control.setBotKey({ botId: made.id, ...A_KEY })
      return { id: made.id, username: made.username, client: clientOf(made.token) }
    },
    /** Every message of a chat as the service holds it, oldest first. */
    held: (chatId: number) => control.messages({ chatId }),
    /** A message sealed and signed by alice, as a bot that does its own sealing would send. */
    sealed: async () => {
      const { id: chatId } = await control.addRoom({ kind: 'group', members: [alice.id] })
      await control.write({ userId: alice.id, chatId, text: words() })
      const written = await control.messages({ chatId })
      return String(written.at(-1)?.armored)
    },
    /** A key that phones can seal to, for a bot that does its own opening. */
    key: async () => {
      const { id } = await control.addPerson({ username: newHandle('keeper') })
      const { fingerprint } = await control.givePhone({ userId: id })
      await control.addPrivateChat({ userId: id, botId })
      const record = readUserKey(ok(await past.get(`/users/${id}/key`)))
      return { publicKey: String(record?.publicKey), fingerprint }
    },
    /** Queues so many updates of an unknown kind. */
    queue: async (count: number) => {
      for (let n = 0; n < count; n++) {
        await control.injectUpdate({ botId, update: { kind: 'unheard_of' } })
      }
    },
    /** The next call of an endpoint fails with `internal`. */
    breakNext: async (endpoint: EndpointName) => {
      const how = { name: 'error', status: 500, code: 'internal', times: 1 } as const
      await control.fault({ ...how, route: endpoint, botId })
    },

    now: parts.now,
    /** Moves the clock forward; events on the way occur at their time. */
    advance: parts.advance,
    /** Waits until the service holds a poll of the bot's. */
    polling: async () => {
      await until(
        () => control.transcript(),
        (calls) =>
          calls.some(({ path, status }) => path.startsWith('/bot/v1/updates') && status === 0),
      )
      // The poll was there before this call, so it is waiting by the time this one is answered.
      await past.get('/me')
    },
  }
}
