import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/create.ts'
import { TAG } from '../../src/openpgp/format/packets.ts'
import { KEY, toBot } from '../support/openpgp-engine.ts'
import { armor, longPacket, oldPacket, packet, partialPacket } from '../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { isUsual, seeds } from '../support/chance.ts'
import { mutate, randomFrom, type Random } from '../support/openpgp-mutate.ts'
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk6,
  pkeskBody,
  seipd2,
  seipdBody,
  strangerPkesk,
} from '../support/openpgp-sealed.ts'
import { small } from '../vectors/cases/bodies.ts'
import { PACKETS } from '../vectors/cases/inner.ts'
import { OUTER } from '../vectors/cases/outer.ts'
import { SIGNATURES } from '../vectors/cases/signatures.ts'

const killed: string[] = []
const engine = createEngine({ threads: 2 })
engine.onThreadKilled((job) => killed.push(job))
afterAll(() => engine[Symbol.asyncDispose]())

const TEXT = 'hello '.repeat(120)
const signed = signedLiteral(TEXT, { signer: alice.primary, atMs: NOW_MS })
/** What alice signed in the vectors. */
const SIGNED = ['hello', 'a\nb\n']

const MESSAGES = [...small(OUTER), ...small(SIGNATURES)].map(([, message]) => message)
const INNER = small(PACKETS).map(([, inner]) => inner)

const OUTCOMES = new Set(['opened', 'damaged', 'not-recipient', 'not-encrypted', 'too-large'])
const CHUNK = 40

/** Opens messages side by side; a valid signature must be over one of the texts. Counts the opened ones. */
async function openAll(of: (seed: number) => Buffer, o: { texts: string[]; runs: number }) {
  let count = 0
  const all = seeds(o.runs)
  for (let at = 0; at < all.length; at += CHUNK) {
    const chunk = all.slice(at, at + CHUNK)
    await Promise.all(
      chunk.map(async (seed) => {
        const opened = await engine.open(armor(of(seed)), [bot.unlocked])
        expect(OUTCOMES, `FUZZ_SEED=${seed}`).toContain(opened.outcome)
        if (opened.outcome !== 'opened') {
          const reason = 'reason' in opened ? opened.reason : ''
          expect(['deadline', 'failed'], `FUZZ_SEED=${seed}`).not.toContain(reason)
          return
        }
        const results = await engine.verify(opened.signed, alice.certificate, NOW_MS)
        expect(results, `FUZZ_SEED=${seed}`).toHaveLength(opened.signatures.length)
        count++
        if (results.includes('valid')) expect(o.texts, `FUZZ_SEED=${seed}`).toContain(opened.text)
      }),
    )
    expect(killed, `FUZZ_SEED=${chunk[0]} FUZZ_RUNS=${chunk.length}`).toEqual([])
  }
  return count
}

test('a mutated message opens with a valid signature as its own text alone, and kills no thread', async () => {
  const spoilt = (seed: number): Buffer => {
    const random = randomFrom(seed)
    return mutate(MESSAGES[random(MESSAGES.length)] ?? Buffer.alloc(1), random)
  }
  await openAll(spoilt, { texts: SIGNED, runs: 250 })
})

test('a message with mutated packets inside has a valid signature over the signed text alone', async () => {
  const spoilt = (seed: number): Buffer => {
    const random = randomFrom(seed)
    return toBot(mutate(INNER[random(INNER.length)] ?? Buffer.alloc(1), random))
  }
  await openAll(spoilt, { texts: SIGNED, runs: 250 })
})

const pick = <T>(random: Random, some: readonly [T, ...T[]]): T =>
  some[random(some.length)] ?? some[0]

/** Packets that stand before a container, and some that do not. */
const BEFORE: readonly [(random: Random) => Buffer, ...((random: Random) => Buffer)[]] = [
  () => pkeskBody(bot.subkey, KEY, 'framed'),
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
function framedMessage(random: Random): Buffer {
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

test('a message of random well-framed packets opens as the text of its container, or not at all', async () => {
  const opened = await openAll((seed) => framedMessage(randomFrom(seed)), {
    texts: [TEXT, 'hello'],
    runs: 400,
  })
  if (isUsual) expect(opened).toBeGreaterThan(8)
})
