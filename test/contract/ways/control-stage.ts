import { readUserKey } from '../../../src/api/user-key.ts'
import type { Client } from '../client.ts'
import type { PerWay, Person, RoomOptions, MembershipOptions, Stage, Way } from '../stage.ts'
import { ok } from '../expect.ts'
import { until } from '../steps.ts'
import { newHandle, type Surroundings } from './home.ts'
import { ownerOf } from './owner.ts'
import { personOf } from './person.ts'
import { setMembership, heldIn, makeRoom } from './rooms.ts'
import { words } from './words.ts'

/** Looks like a certificate; the service cannot tell. */
const A_KEY = {
  publicKey: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n',
  fingerprint: 'B'.repeat(40),
}

export interface StageParts extends Surroundings {
  way: Way
  bot: Client
  past: Client
  /** Makes a client straight to the service with another bot's token. */
  clientOf: (token: string) => Client
  handOver: (token: string) => Promise<void>
  now: () => number
  /** Moves the clock of the service, and the sidecar's. */
  advance: (ms: number) => Promise<void>
}

/** Everything that cases ask for, done with the control of the service. */
export function stageOf({ way, bot, past, clientOf, ...parts }: StageParts): Stage {
  const { control, home } = parts
  const botId = home.bot.id
  const alice = personOf(control, { ...home.alice, botId })
  const isProtected = way === 'protected'
  return {
    way,
    me: { id: botId, username: home.bot.username },
    bot,
    past,
    alice,
    bob: personOf(control, { ...home.bob, botId }),
    owner: ownerOf(control, { botId, handOver: parts.handOver }),
    per: <T>(expected: PerWay<T>) => (way in expected ? expected[way]! : expected.service),
    words,

    privateChat: async (person: Person = alice) =>
      (await control.addPrivateChat({ userId: person.id, botId })).id,
    group: () => Promise.resolve(isProtected ? home.encryptedGroup : home.readableGroup),
    room: (o: RoomOptions = {}) => makeRoom(parts, { readable: !isProtected, ...o }),
    changeRoom: async (chatId, { readable }) =>
      void (await control.changeChat({ chatId, historyVisible: readable })),
    join: async (chatId, userId) => void (await control.join({ chatId, userId })),
    setMembership: (chatId, userId, o: MembershipOptions) =>
      setMembership(control, { chatId, userId, ...o }),
    person: async ({ phone }) => {
      const made = await control.addPerson({ username: newHandle('somebody') })
      if (phone) await control.givePhone({ userId: made.id })
      return personOf(control, { ...made, botId })
    },
    otherBot: async ({ listens = false, key = false } = {}) => {
      const made = await control.addBot({ username: newHandle('other_bot'), privacyMode: !listens })
      if (key) await control.setBotKey({ botId: made.id, ...A_KEY })
      return { id: made.id, username: made.username, client: clientOf(made.token) }
    },
    held: (chatId) => heldIn(control, chatId),
    sealed: async () => {
      const { id: chatId } = await control.addRoom({ kind: 'group', members: [alice.id] })
      await control.write({ userId: alice.id, chatId, text: words() })
      const written = await control.messages({ chatId })
      return String(written.at(-1)?.armored)
    },
    key: async () => {
      const { id } = await control.addPerson({ username: newHandle('keeper') })
      const { fingerprint } = await control.givePhone({ userId: id })
      await control.addPrivateChat({ userId: id, botId })
      const record = readUserKey(ok(await past.get(`/users/${id}/key`)))
      return { publicKey: String(record?.publicKey), fingerprint }
    },
    queue: async (count) => {
      for (let n = 0; n < count; n++) {
        await control.injectUpdate({ botId, update: { kind: 'unheard_of' } })
      }
    },
    breakNext: async (endpoint) => {
      const how = { name: 'error', status: 500, code: 'internal', times: 1 } as const
      await control.fault({ ...how, route: endpoint, botId })
    },

    now: () => parts.now(),
    advance: (ms) => parts.advance(ms),
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
