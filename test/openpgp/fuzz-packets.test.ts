/** What the parser lets through reaches openpgp.js, which must not choke on it. */
import { decrypt, readMessage, readPrivateKey } from 'openpgp'
import { beforeAll, expect, test } from 'vitest'
import { BOUNDS } from '../../src/openpgp/bounds.ts'
import { open } from '../../src/openpgp/library/open.ts'
import { TAG, packetsOf } from '../../src/openpgp/format/packets.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import {
  parseMessageBytes,
  type EncryptedMessage,
} from '../../src/openpgp/format/encrypted-message.ts'
import { KEY, idsOf } from '../support/openpgp-engine.ts'
import { armor, longPacket, oldPacket, packet, partialPacket } from '../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { seeds } from '../support/chance.ts'
import { mutate, randomFrom, type Random } from '../support/openpgp-mutate.ts'
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, testPerson } from '../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk6,
  pkeskBody,
  seipd2,
  seipdBody,
  strangerPkesk,
} from '../support/openpgp-sealed.ts'

const keys = [bot.unlocked, testPerson('old').unlocked]
const signed = signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })
const pick = <T>(random: Random, some: readonly [T, ...T[]]): T =>
  some[random(some.length)] ?? some[0]

/** Packets that stand before a container, and some that do not. */
const BEFORE: readonly [(random: Random) => Buffer, ...((random: Random) => Buffer)[]] = [
  () => pkeskBody(bot.subkey, KEY, 'walk'),
  (random) => concat(3, bot.subkey.keyId, random(256), seeded(`body ${random(99)}`, random(200))),
  (random) => concat(random(8), seeded(`body ${random(99)}`, random(120))),
  (random) => concat(3, Buffer.alloc(8), 18, seeded(`body ${random(99)}`, random(200))),
  (random) => concat(6, 21, 4, bot.subkey.fingerprint, 18, seeded(`${random(99)}`, random(99))),
  (random) => concat(4, 9, 3, 8, seeded('salt', 8), random(256)),
  (random) => concat(6, 30, 9, 2, 26, 4, seeded('salt', 16), 255, 255, random(256)),
]
const TAGS = [TAG.pkesk, TAG.pkesk, TAG.pkesk, TAG.skesk, 10, 21, 60] as const
const CONTAINERS: readonly [Buffer, ...Buffer[]] = [
  seipdBody(signed, KEY),
  seipdBody(compressed(signed, 2), KEY),
  seipdBody(Buffer.alloc(0), KEY),
  seipd2(literal('hello'), KEY).subarray(3),
  concat(1, seeded('noise', 300)),
  concat(2, 9, 2, 16, seeded('noise', 300)),
  concat(2, 9, 3, 62, seeded('noise', 300)),
  concat(1),
]

/** One packet in one of the forms that there are. */
function framed(random: Random, tag: number, body: Buffer): Buffer {
  const form = random(6)
  if (form === 0) return longPacket(tag, body)
  if (form === 1 && tag < 16) return oldPacket(tag, body, body.length < 256 ? 1 : 2)
  if (form === 2 && body.length > 512) return partialPacket(tag, body, [9])
  return packet(tag, body)
}

/** Well framed packets of every kind, in an order that is mostly right, and mostly not spoilt. */
function message(random: Random): Buffer {
  const parts: Buffer[] = []
  for (let count = random(5); count > 0; count--) {
    parts.push(framed(random, pick(random, TAGS), pick(random, BEFORE)(random)))
  }
  if (random(4) === 0) parts.push(strangerPkesk(`${random(99)}`))
  if (random(4) === 0) parts.push(anonymousPkesk(bot.subkey, KEY))
  if (random(6) === 0) parts.push(pkesk6(bot.subkey, KEY))
  const body = pick(random, CONTAINERS)
  const container = random(3) === 0 ? mutate(body, random) : body
  parts.push(framed(random, TAG.seipd, Buffer.from(container)))
  const whole = concat(...parts)
  return random(4) === 0 ? mutate(whole, random) : whole
}

const OUTCOMES = ['opened', 'damaged', 'not-recipient', 'too-large']
let library: Awaited<ReturnType<typeof readPrivateKey>>
beforeAll(async () => {
  const armoredKey = armor(bot.secret, { type: 'PRIVATE KEY BLOCK' })
  library = await readPrivateKey({ armoredKey })
})

/** What the library itself says of what is left: it may refuse, and nothing else. */
async function libraryAlone({ recipientPackets, container }: EncryptedMessage): Promise<void> {
  const binaryMessage = concat(...recipientPackets, framePacket(TAG.seipd, container))
  try {
    const read = await readMessage({ binaryMessage })
    await decrypt({ message: read, decryptionKeys: library, format: 'binary' })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (error instanceof RangeError || /call stack|allocation|out of memory/i.test(error.message)) {
      throw new Error('the library choked', { cause: error })
    }
  }
}

test(
  'what is let through is bounded, and the library opens it or refuses it',
  { timeout: 120_000 },
  async () => {
    const runs = seeds(1500)
    const reached = { library: 0, opened: 0 }
    for (const seed of runs) {
      const encrypted = parseMessageBytes(message(randomFrom(seed)), idsOf(keys))
      if (encrypted.outcome !== 'encrypted') continue
      reached.library++
      const { recipientPackets, container } = encrypted
      const most = BOUNDS.namedAttempts + BOUNDS.anonymousPackets
      expect(recipientPackets.length, `FUZZ_SEED=${seed}`).toBeLessThanOrEqual(most)
      for (const one of recipientPackets) {
        const tags = [...packetsOf(one)].map(({ tag }) => tag)
        expect(tags, `FUZZ_SEED=${seed}`).toEqual([TAG.pkesk])
      }
      expect([1, 2], `FUZZ_SEED=${seed}`).toContain(container[0])
      await libraryAlone(encrypted).catch((error: unknown) => {
        throw new Error(`FUZZ_SEED=${seed}`, { cause: error })
      })
      const opened = await open(encrypted, keys)
      expect(OUTCOMES, `FUZZ_SEED=${seed}`).toContain(opened.outcome)
      if (opened.outcome !== 'opened') continue
      reached.opened++
      expect(opened.text, `FUZZ_SEED=${seed}`).toBe('hello')
    }
    // Of fewer, as when one seed is looked at, perhaps none gets that far.
    if (runs.length < 500) return
    expect(reached.library).toBeGreaterThan(runs.length / 5)
    expect(reached.opened).toBeGreaterThan(runs.length / 50)
  },
)
