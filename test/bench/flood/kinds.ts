/** Every kind of flood: what the service lies, and what the bot asks for meanwhile. */
import { randomBytes } from 'node:crypto'
import { deflateRawSync, deflateSync } from 'node:zlib'
import { armorKey, dearmored, giantCertificate } from '../../support/faults-certificates.ts'
import {
  armor,
  compressed,
  container,
  keyIdsOf,
  literal,
  packet,
  partial,
  recipients,
  sealArmored,
  TAG,
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
  'partial lengths': async (parts) => {
    const long = partial(TAG.seipd, randomBytes(40_000), 0)
    const inside = partial(TAG.literal, randomBytes(30_000), 0)
    const tricks = [
      armor(Buffer.concat([recipients(1), long])),
      armor(Buffer.concat([recipients(1), Buffer.alloc(90_000, 0xe0)])),
      await sealArmored(inside, parts.certificates.slice(0, 1)),
    ]
    return { lies: { routes: [updates(repeated(tricks, 20), parts)] }, lanes: [POLL] }
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
  'thousands of signatures': async (parts) => {
    const words = literal('signed by a crowd')
    const own = parts.certificates.slice(0, 1)
    const crowds = [600, 5, 4].map((count) =>
      sealArmored(Buffer.concat([times(count, () => signature(0)), words]), own),
    )
    const bytes = dearmored(parts.certificates[0] ?? '')
    const keyLists = Array.from({ length: 20 }, () =>
      keyList([450, 200, 2000].map((count) => decorated(bytes, count))),
    )
    const messages = repeated(await Promise.all(crowds), 30)
    return { lies: { routes: [updates(messages, parts)], keyLists }, lanes: [POLL, SEND] }
  },
  'deep JSON': async ({ facts }) => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    const path = `/chats/${facts.privateChat}/members`
    const lie = { kind: 'text', text: `{"ok":true,"result":${nested(500_000)}}` } as const
    const body = `{"chatId":${facts.privateChat},"text":"deep","markup":${nested(100_000)}}`
    return {
      lies: {
        routes: [
          ['GET /updates', lie],
          [`GET ${path}`, lie],
        ],
      },
      lanes: [POLL, { method: 'GET', path, lanes: 1 }, { ...SEND, body, lanes: 1 }],
    }
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
  '300 000 updates at once': async () => {
    const list = Array.from({ length: 300_000 }, (_, n) => `{"updateId":${n + 1},"kind":"none"}`)
    const text = `{"ok":true,"result":[${list.join(',')}]}`
    return { lies: { routes: [['GET /updates', { kind: 'text', text }]] }, lanes: [POLL] }
  },
  'slow bodies': async ({ facts }) => {
    const path = `/chats/${facts.privateChat}/members`
    return {
      lies: {
        routes: [
          ['GET /updates', { kind: 'dripping' }],
          [`GET ${path}`, { kind: 'dripping' }],
        ],
      },
      lanes: [
        POLL,
        { method: 'GET', path, lanes: 20 },
        { method: 'POST', path: '/messages', lanes: 20, isSlow: true },
      ],
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

/** Somebody's certificate with signatures that nobody made. */
function decorated(certificate: Buffer, count: number): { armored: string; fingerprint: string } {
  const bytes = Buffer.concat([certificate, times(count, () => signature(0x10))])
  return { armored: armorKey(bytes), fingerprint: '' }
}

/** A signature packet of the right shape that nobody made (RFC 9580, 5.2.3). */
function signature(type: number): Buffer {
  const made = Buffer.alloc(4)
  made.writeUInt32BE(Math.floor(Date.now() / 1000) - 60)
  const hashed = Buffer.concat([Buffer.from([5, 2]), made])
  const unhashed = Buffer.concat([Buffer.from([9, 16]), randomBytes(8)])
  const numbers = [1, 0, 0x80, ...randomBytes(31), 1, 0, 0x80, ...randomBytes(31)]
  const head = Buffer.from([4, type, 22, 8, 0, hashed.length])
  const body = [head, hashed, Buffer.from([0, unhashed.length]), unhashed, randomBytes(2)]
  return packet(TAG.signature, Buffer.concat([...body, Buffer.from(numbers)]))
}

const times = (count: number, make: () => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, make))

function repeated<T>(things: T[], count: number): T[] {
  return Array.from({ length: count }, (_, n) => things[n % things.length]).filter(
    (thing) => thing !== undefined,
  )
}
