import { expect, test } from 'vitest'
import { judgeFully, describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import type { Opened, UnlockedKey } from '../../../src/openpgp/engine.ts'
import { openNatively } from '../../support/openpgp-native-parts.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import { Verifier } from '../../../src/openpgp/native/verify.ts'
import { open } from '../../../src/openpgp/library/open.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { parseMessageBytes } from '../../../src/openpgp/format/encrypted-message.ts'
import { openFile } from '../../support/bulk.ts'
import { contentOf } from '../../support/memory-room.ts'
import { KEY, idsOf, toBot } from '../../support/openpgp-engine.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { plainCertificate } from '../../support/openpgp-certificate.ts'
import { signedLiteral } from '../../support/openpgp-inner.ts'
import type { SigningKey } from '../../support/openpgp-key.ts'
import { isUsual, seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { MADE_MS, NOW_MS, alice, bot, mallory, personOf } from '../../support/openpgp-people.ts'
import { pkesk, seipd, shortenedPkesk } from '../../support/openpgp-sealed.ts'
import { variedMessage } from '../../support/openpgp-varied-message.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import { flipBit } from '../../support/openpgp-flips.ts'

/** The bot's key in the newer algorithms. */
const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))
const carol = ed25519Native('carol', MADE_MS)
const keys: UnlockedKey[] = [bot.unlocked, modern.unlocked]
const own = new NativeOwnKeys(describeOwnKey)
const verifier = new Verifier(() => true)

const CERTIFICATES = [
  alice.certificate,
  mallory.certificate,
  plainCertificate(carol, x25519Native('carol', MADE_MS), 'carol'),
]
const SIGNERS: SigningKey[] = [alice.primary, mallory.primary, carol]

interface Counts {
  opened: number
  damaged: number
  verified: number
}

/** Opens and verifies both ways; native results must equal those of the library. */
async function compare(packets: Uint8Array, counts: Counts): Promise<Opened | null> {
  const encrypted = parseMessageBytes(packets, idsOf(keys))
  if (encrypted.outcome !== 'encrypted') return null
  const ours = await openNatively(encrypted, keys, own)
  const opened = await open(encrypted, keys)
  if (ours !== null) {
    if (ours.outcome === 'opened') counts.opened++
    else counts.damaged++
    expect(ours).toEqual(opened)
  }
  await compareFile(packets, opened)
  if (opened.outcome !== 'opened') return ours
  for (const certificate of CERTIFICATES) {
    const { info } = await judgeFully(certificate, NOW_MS)
    const results = info && (await verifier.verify(opened.signed, info, NOW_MS))
    if (results === null) continue
    counts.verified += results.length
    expect(results).toEqual(await verify(opened.signed, certificate, NOW_MS))
  }
  return ours
}

/** The same packets as a file, which may be of any bytes. */
async function compareFile(packets: Uint8Array, opened: Opened): Promise<void> {
  if ('reason' in opened && opened.reason === 'encoding') return
  const file = await openFile(Buffer.from(packets), { keys, pieces: 100 })
  expect(file.outcome).toBe(opened.outcome)
  if (file.outcome !== 'opened' || opened.outcome !== 'opened') return
  const { dataDigest, signatures, openedWith } = opened
  expect(file).toMatchObject({ dataDigest, signatures, openedWith })
  expect((await contentOf(file.file)).toString()).toBe(opened.text)
}

async function each(runs: number, of: (seed: number) => Uint8Array): Promise<Counts> {
  const counts = { opened: 0, damaged: 0, verified: 0 }
  for (const seed of seeds(runs)) {
    await compare(of(seed), counts).catch((error: unknown) => {
      throw new Error(`FUZZ_SEED=${seed}`, { cause: error })
    })
  }
  return counts
}

const message = (seed: number): Buffer =>
  variedMessage(randomFrom(seed), { to: [bot.subkey, modern.subkey], signers: SIGNERS }).packets

test('random messages are opened and verified natively with the results of openpgp.js', async () => {
  const runs = 160
  const counts = await each(runs, message)
  if (!isUsual) return
  expect(counts.opened).toBeGreaterThan(runs / 4)
  expect(counts.verified).toBeGreaterThan(runs / 4)
})

test('mutated messages are opened and verified natively with the results of openpgp.js', async () => {
  const runs = 240
  const counts = await each(runs, (seed) => mutate(message(seed), randomFrom(seed + 1)))
  if (isUsual) expect(counts.damaged).toBeGreaterThan(runs / 20)
})

test.each([false, true])(
  'a message whose sender left out the zeros of the shared secret opens natively too, at its end: %s',
  async (isAtEnd) => {
    const counts = { opened: 0, damaged: 0, verified: 0 }
    const sealed = seipd(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }), KEY)
    await compare(concat(shortenedPkesk(bot.subkey, KEY, isAtEnd), sealed), counts)
    expect(counts).toMatchObject({ opened: 1, damaged: 0 })
  },
)

test('a message with any single bit flipped opens with its own text or not at all', async () => {
  const packets = toBot(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }))
  const container = pkesk(bot.subkey, KEY).length
  for (let bit = 0; bit < packets.length * 8; bit++) {
    const flipped = flipBit(packets, bit)
    const encrypted = parseMessageBytes(flipped, idsOf(keys))
    if (encrypted.outcome !== 'encrypted') continue
    const opened = (await openNatively(encrypted, keys, own)) ?? (await open(encrypted, keys))
    if (opened.outcome === 'damaged') continue
    // A few bits of a recipient packet mean nothing: of a number's length, the last of a point.
    expect(opened, `bit ${bit}`).toMatchObject({ outcome: 'opened', text: 'hello' })
    expect(bit >> 3, `bit ${bit}`).toBeLessThan(container)
  }
})
