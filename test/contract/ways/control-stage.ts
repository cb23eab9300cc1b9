import type { Sandbox } from '../../../src/sandbox/create.ts'
import type { Client } from '../client.ts'
import type { PerWay, Person, RoomOptions, MembershipOptions, Stage, Way } from '../stage.ts'
import { until } from '../steps.ts'
import { ownerOf } from './owner.ts'
import { personOf } from './person.ts'
import { setMembership, heldIn, makeRoom } from './rooms.ts'
import { words } from './words.ts'

/** Looks like a certificate; the service cannot tell. */
const A_KEY = {
  publicKey: '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n',
  fingerprint: 'B'.repeat(40),
}

export interface StageParts {
  way: Way
  sandbox: Sandbox
  bot: Client
  past: Client
  /** Makes a client straight to the service with another bot's token. */
  clientOf: (token: string) => Client
  handOver: (token: string) => Promise<void>
  /** Moves the clock of the service, and the sidecar's. */
  advance: (ms: number) => Promise<void>
}

let names = 0

/** Everything that cases ask for, done with the sandbox's control. */
export function stageOf({ way, sandbox, bot, past, clientOf, ...parts }: StageParts): Stage {
  const { control, home } = sandbox
  const botId = home.bot.id
  const alice = personOf(sandbox, { ...home.alice, botId })
  const isProtected = way === 'protected'
  return {
    way,
    me: { id: botId, username: home.bot.username },
    bot,
    past,
    alice,
    bob: personOf(sandbox, { ...home.bob, botId }),
    owner: ownerOf(sandbox, { botId, handOver: parts.handOver }),
    per: <T>(expected: PerWay<T>) => (way in expected ? expected[way]! : expected.service),
    words,

    privateChat: async (person: Person = alice) =>
      (await control.addPrivateChat({ userId: person.id, botId })).id,
    group: () => Promise.resolve(isProtected ? home.encryptedGroup : home.readableGroup),
    room: (o: RoomOptions = {}) => makeRoom(sandbox, { readable: !isProtected, ...o }),
    changeRoom: async (chatId, { readable }) =>
      void (await control.changeChat({ chatId, historyVisible: readable })),
    join: async (chatId, userId) => void (await control.join({ chatId, userId })),
    setMembership: (chatId, userId, o: MembershipOptions) =>
      setMembership(sandbox, { chatId, userId, ...o }),
    person: async ({ phone }) => {
      const made = await control.addPerson({ username: `somebody_${++names}` })
      if (phone) await control.givePhone({ userId: made.id })
      return personOf(sandbox, { ...made, botId })
    },
    otherBot: async ({ listens = false, key = false } = {}) => {
      const made = await control.addBot({ username: `other_bot_${++names}`, privacyMode: !listens })
      if (key) await control.setBotKey({ botId: made.id, ...A_KEY })
      return { id: made.id, username: made.username, client: clientOf(made.token) }
    },
    held: (chatId) => heldIn(sandbox, chatId),
    sealed: async () => {
      const phone = await sandbox.phone(alice.id)
      return await phone.seal(words(), [phone.certificate])
    },
    key: async () => {
      const { id } = await control.addPerson({ username: `keeper_${++names}` })
      const { certificate, fingerprint } = await sandbox.phone(id)
      return { publicKey: certificate, fingerprint }
    },
    queue: async (count) => {
      for (let n = 0; n < count; n++) {
        await control.injectUpdate({ botId, update: { kind: 'unheard_of', n } })
      }
    },
    breakNext: (endpoint) => {
      sandbox.fault('error', { route: endpoint, status: 500, code: 'internal', times: 1, botId })
    },

    now: () => sandbox.now(),
    advance: (ms) => parts.advance(ms),
    polling: async () => {
      await until(
        () => Promise.resolve(sandbox.transcript.list()),
        (calls) =>
          calls.some(({ path, status }) => path.startsWith('/bot/v1/updates') && status === 0),
      )
      // The poll was there before this call, so it is waiting by the time this one is answered.
      await past.get('/me')
    },
  }
}
