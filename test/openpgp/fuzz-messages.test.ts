import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/create.ts'
import { KEY, toBot } from '../support/openpgp-engine.ts'
import { BZIP2_SIGNED } from '../support/openpgp-bzip2.ts'
import { armor, oldPacket, packet, partialPacket } from '../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../support/openpgp-inner.ts'
import { seeds } from '../support/chance.ts'
import { mutate, randomFrom } from '../support/openpgp-mutate.ts'
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  pkeskBody,
  seipd,
  seipd2,
  seipdBody,
  strangerPkesk,
} from '../support/openpgp-sealed.ts'

const killed: string[] = []
const engine = createEngine({ threads: 2, onThreadKilled: (job) => killed.push(job) })
afterAll(() => engine[Symbol.asyncDispose]())

const TEXT = 'hello '.repeat(120)
const by = { signer: alice.primary, atMs: NOW_MS }
const signed = signedLiteral(TEXT, by)
const ours = pkesk(bot.subkey, KEY)

/** Whole messages, framed in every way. */
const MESSAGES = [
  concat(ours, seipd(signed, KEY)),
  concat(strangerPkesk('a'), ours, strangerPkesk('b'), seipd(literal(TEXT), KEY)),
  concat(anonymousPkesk(bot.subkey, KEY), seipd(literal(TEXT), KEY)),
  concat(
    oldPacket(1, pkeskBody(bot.subkey, KEY, 'pkesk'), 2),
    packet(18, seipdBody(literal(TEXT), KEY)),
  ),
  concat(ours, partialPacket(18, seipdBody(literal(TEXT), KEY), [9])),
  concat(pkesk6(bot.subkey, KEY), seipd2(signed, KEY)),
  concat(packet(10, Buffer.from('PGP')), ours, packet(21, seeded('p', 30)), seipd(signed, KEY)),
  concat(packet(3, concat(4, 9, 3, 8, seeded('salt', 8), 96)), ours, seipd(signed, KEY)),
]

/** What stands inside a message. */
const INNER = [
  signed,
  concat(signedLiteral(TEXT, [by, by])),
  literal(TEXT),
  compressed(signed, 1),
  compressed(signed, 2),
  compressed(signed, 0),
  compressedOf(3, BZIP2_SIGNED),
  concat(packet(10, Buffer.from('PGP')), signed, packet(60, seeded('x', 9))),
]

const OUTCOMES = new Set(['opened', 'damaged', 'not-recipient', 'not-encrypted', 'too-large'])
const CHUNK = 40

/** Opens spoilt messages side by side; the seed stands in what is thrown. */
async function openAll(
  of: (seed: number) => Buffer,
  check: (text: string, seed: number) => void,
  runs: number,
): Promise<void> {
  const all = seeds(runs)
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
        if (results.includes('valid')) check(opened.text, seed)
      }),
    )
    expect(killed, `FUZZ_SEED=${chunk[0]} FUZZ_RUNS=${chunk.length}`).toEqual([])
  }
}

test(
  'a message spoilt on its way opens as what it was, or not at all',
  { timeout: 120_000 },
  async () => {
    const spoilt = (seed: number): Buffer => {
      const random = randomFrom(seed)
      return mutate(MESSAGES[random(MESSAGES.length)] ?? Buffer.alloc(1), random)
    }
    await openAll(spoilt, (text, seed) => expect(text, `FUZZ_SEED=${seed}`).toBe(TEXT), 600)
  },
)

test(
  'whatever somebody seals to us opens, or is refused, and is valid only as it was signed',
  { timeout: 120_000 },
  async () => {
    const spoilt = (seed: number): Buffer => {
      const random = randomFrom(seed)
      return toBot(mutate(INNER[random(INNER.length)] ?? Buffer.alloc(1), random))
    }
    const signedTexts = new Set([TEXT, 'hello'])
    await openAll(
      spoilt,
      (text, seed) => expect(signedTexts, `FUZZ_SEED=${seed}`).toContain(text),
      600,
    )
  },
)

test('noise under a recipient packet of ours is refused', { timeout: 120_000 }, async () => {
  const noise = (seed: number): Buffer => {
    const random = randomFrom(seed)
    const body = concat(random(3), seeded(`noise ${seed}`, random(400)))
    const named = packet(
      1,
      concat(
        3,
        bot.subkey.keyId,
        [1, 18, 25, 26, 99][random(5)] ?? 1,
        seeded(`pkesk ${seed}`, random(200)),
      ),
    )
    return concat(named, packet(18, body))
  }
  await openAll(noise, (text) => expect(text).toBe('never'), 200)
})
