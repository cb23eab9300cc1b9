/** Every kind of flood: what the service lies, and what the bot asks for meanwhile. */
import { deflateRawSync, deflateSync } from 'node:zlib'
import { giantCertificate } from '../../support/faults-certificates.ts'
import {
  armor,
  compressed,
  container,
  keyIdsOf,
  literal,
  recipients,
  sealArmored,
} from '../../support/faults-packets.ts'
import { POLL_PATH, success, type Lane, type Lie, type Lies, type ServiceFacts } from './words.ts'

export interface Flood {
  lies: Lies
  lanes: Lane[]
}

export interface FloodParts {
  facts: ServiceFacts
  /** Certificates of the bot, the published one first. */
  certificates: string[]
}

/** Curve25519 recipients that fit into a message. */
const MANY = 950
const MIB = 2 ** 20
const STRANGER = '00112233aabbccdd'
const POLL: Lane = { method: 'GET', path: POLL_PATH, lanes: 1 }

/** What each kind is of, by SECURITY 3. */
export const KINDS: Record<string, (parts: FloodParts) => Promise<Flood>> = {
  'recipient packets': async (parts) => {
    const names = (await Promise.all(parts.certificates.map(keyIdsOf))).flat()
    const flood = (keyId: string): string =>
      armor(Buffer.concat([recipients(MANY, keyId), container(256)]))
    const messages = Array.from({ length: 20 }, (_, n) =>
      flood(n % 2 === 0 ? STRANGER : (names[n % names.length] ?? STRANGER)),
    )
    return { lies: { routes: [updates(messages, parts)] }, lanes: [POLL] }
  },
  'anonymous recipients': async (parts) => {
    const flood = (count: number): string =>
      armor(Buffer.concat([recipients(count), container(256)]))
    const messages = Array.from({ length: 40 }, (_, n) => flood(n % 2 === 0 ? MANY : 4))
    return { lies: { routes: [updates(messages, parts)] }, lanes: [POLL] }
  },
  'compression bombs': async (parts) => {
    const bomb = literal(Buffer.alloc(80 * MIB))
    const packets = [
      compressed(1, deflateRawSync(bomb)),
      compressed(2, deflateSync(bomb)),
      compressed(2, deflateSync(compressed(2, deflateSync(bomb)))),
    ]
    const own = parts.certificates.slice(0, 1)
    const sealed = await Promise.all(packets.map((one) => sealArmored(one, own)))
    return {
      lies: { routes: [updates(repeated([...sealed, ...packets.map(armor)], 20), parts)] },
      lanes: [POLL],
    }
  },
  'giant keys': async () => {
    const sizes = [
      { bits: 16_384, exponentBits: 17, signatures: 1 },
      { bits: 8192, exponentBits: 8192, signatures: 4 },
      { bits: 4096, exponentBits: 4096, signatures: 12 },
    ]
    const keyLists = Array.from({ length: 200 }, () => keyList(sizes.map(giantCertificate)))
    return { lies: { routes: [], keyLists }, lanes: [SEND] }
  },
  'answers of 200 MB': async ({ facts }) => {
    const path = `/chats/${facts.privateChat}/members`
    const lie = { kind: 'endless', bytes: 200 * MIB } as const
    return {
      lies: {
        routes: [
          ['GET /updates', lie],
          [`GET ${path}`, lie],
        ],
      },
      lanes: [POLL, { method: 'GET', path, lanes: 1 }],
    }
  },
}

const SEND: Lane = {
  method: 'POST',
  path: '/messages',
  body: `{"chatId":#,"text":"to the room"}`,
  lanes: 2,
}

/** The same updates at every poll: a person may post what a bot never confirms. */
function updates(messages: string[], { facts }: FloodParts): [string, Lie] {
  const list = messages.map((armored, index) => ({
    updateId: index + 1,
    kind: 'message',
    message: {
      id: index + 1,
      chat: { id: facts.privateChat, kind: 'private' },
      from: { id: facts.aliceId, username: 'alice', firstName: 'A', lastName: null, isBot: false },
      date: Date.now(),
      replyTo: null,
      kind: 'user',
      armored,
      media: [],
    },
  }))
  return ['GET /updates', { kind: 'text', text: success(list) }]
}

let people = 1_000_000

function keyList(made: { armored: string; fingerprint: string }[]): string {
  const keys = made.map(({ armored, fingerprint }) => ({
    userId: people++,
    fingerprint,
    publicKey: armored,
  }))
  return success({ keys, memberCount: keys.length + 1 })
}

function repeated<T>(things: T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => things[n % things.length]).filter(
    (thing) => thing !== undefined,
  )
}
