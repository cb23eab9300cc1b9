import { decrypt, readMessage, readPrivateKey, readKey } from 'openpgp'
import { beforeAll, expect, test } from 'vitest'
import type { Opened, OpenedFile, NotOpened } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openFile } from '../../support/bulk.ts'
import { contentOf } from '../../support/memory-room.ts'
import { BZIP2_SIGNED } from '../../support/openpgp-bzip2.ts'
import { KEY, openPackets, toBot } from '../../support/openpgp-engine.ts'
import { oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { TYPE, onePass, signature } from '../../support/openpgp-signature.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  pkeskBody,
  seipd,
  seipd2,
  seipdBody,
  sessionKey,
  strangerPkesk,
} from '../../support/openpgp-sealed.ts'

const TEXT = 'hello\n'.repeat(120)
const by = { signer: alice.primary, atMs: NOW_MS }
const signed = signedLiteral(TEXT, by)
const closing = signature({ ...by, over: Buffer.from(TEXT) })
const ours = pkesk(bot.subkey, KEY)
const old = sessionKey('old cipher', 2)

const INNER: Record<string, Buffer> = {
  signed,
  literal: literal(TEXT),
  'two signatures': signedLiteral(TEXT, [by, { ...by, signer: mallory.primary }]),
  'a text signature': signedLiteral(TEXT, { ...by, type: TYPE.text }),
  'a signature over SHA-512': signedLiteral(TEXT, { ...by, hash: 'sha512' }),
  'a signature over SHA-1': signedLiteral(TEXT, { ...by, hash: 'sha1' }),
  'a signature before a literal': concat(closing, literal(TEXT)),
  zip: compressed(signed, 1),
  zlib: compressed(signed, 2),
  'uncompressed data': compressed(signed, 0),
  bzip2: compressedOf(3, BZIP2_SIGNED),
  'compressed data with a signature around': concat(
    onePass(by),
    compressed(literal(TEXT), 1),
    closing,
  ),
  'markers and padding': concat(
    packet(10, Buffer.from('PGP')),
    signed,
    packet(60, seeded('x', 9)),
    packet(21, seeded('p', 300)),
  ),
  'a literal of indeterminate length': oldPacket(11, literal(TEXT).subarray(3), 0),
  'a literal in partial chunks': partialPacket(11, literal(TEXT).subarray(3), [9]),
  'padded zlib': concat(compressedPadded(signed)),
  'nested compression': compressed(compressed(signed, 1), 2),
  'two literals': concat(literal(TEXT), literal(TEXT)),
  'a literal of format z': literal(TEXT, { format: 'z' }),
  'five signatures': signedLiteral(TEXT, [by, by, by, by, by]),
  'a one-pass packet without a signature': concat(onePass(by), literal(TEXT)),
  'a one-pass packet with another hash': concat(
    onePass({ ...by, hash: 'sha512' }),
    literal(TEXT),
    closing,
  ),
  'compression algorithm 77': compressedOf(77, Buffer.from(TEXT)),
  nothing: Buffer.alloc(0),
}

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
  concat(pkesk(bot.subkey, old), seipd(signed, old)),
  concat(packet(10, Buffer.from('PGP')), ours, packet(21, seeded('p', 30)), seipd(signed, KEY)),
]

function compressedPadded(inner: Buffer): Buffer {
  const body = compressed(inner, 2)
  const start = (body[1] ?? 0) < 192 ? 2 : 3
  return packet(8, concat(body.subarray(start), seeded('padding of the sender', 700)))
}

/** Opens bytes as a message and as a file; the results must be equal, but for texts that are not UTF-8. */
async function expectSame(bytes: Buffer, pieces: number, where: string): Promise<Opened> {
  const [asText, asFile] = [await openPackets(bytes), await openFile(bytes, { pieces })]
  if (asText.outcome !== 'opened') {
    const isText = 'reason' in asText && asText.reason === 'encoding'
    expect(asFile.outcome === 'opened', where).toBe(isText)
    // A file is recognized before its end, where damage may be found.
    const early = asText.outcome === 'damaged' && asFile.outcome.startsWith('not-')
    if (!isText && !early) expect(asFile.outcome, where).toBe(asText.outcome)
    return asText
  }
  await expectSameOpened(asText, asFile, where)
  return asText
}

async function expectSameOpened(
  asText: Extract<Opened, { outcome: 'opened' }>,
  asFile: OpenedFile | NotOpened,
  where: string,
): Promise<void> {
  expect(asFile.outcome, where).toBe('opened')
  if (asFile.outcome !== 'opened') return
  expect((await contentOf(asFile.file)).toString(), where).toBe(asText.text)
  const { dataDigest, signatures, openedWith } = asText
  expect(asFile, where).toMatchObject({ dataDigest, signatures, openedWith })
  for (const { certificate } of [alice, mallory]) {
    const [one, other] = await Promise.all(
      [asText.signed, asFile.signed].map((made) => verify(made, certificate, NOW_MS)),
    )
    expect(other, where).toEqual(one)
  }
}

test.each(Object.entries(INNER))(
  'a message with %s is read as a file with the same result',
  async (name, inner) => {
    for (const pieces of [1, 17, 100_000]) await expectSame(toBot(inner), pieces, name)
  },
)

test.each(MESSAGES.map((message, index) => [index, message] as const))(
  'the framed message %i is read as a file with the same result',
  async (index, message) => {
    const opened = await expectSame(message, 31, String(index))
    expect(opened.outcome).toBe('opened')
  },
)

test('a message with mutated packets inside is read as a file with the same result', async () => {
  const all = Object.values(INNER)
  for (const seed of seeds(250)) {
    const random = randomFrom(seed)
    const inner = mutate(all[random(all.length)] ?? Buffer.alloc(1), random)
    await expectSame(toBot(inner), 1 + random(900), `FUZZ_SEED=${seed}`)
  }
})

test('a mutated message is read as a file with the same result', async () => {
  for (const seed of seeds(180)) {
    const random = randomFrom(seed)
    const spoilt = mutate(MESSAGES[random(MESSAGES.length)] ?? Buffer.alloc(1), random)
    await expectSame(spoilt, 1 + random(900), `FUZZ_SEED=${seed}`)
  }
})

let secretKey: Awaited<ReturnType<typeof readPrivateKey>>
let verificationKeys: Awaited<ReturnType<typeof readKey>>
beforeAll(async () => {
  secretKey = await readPrivateKey({ binaryKey: bot.secret })
  verificationKeys = await readKey({ armoredKey: alice.certificate })
})

/** The content by openpgp.js itself, and whether alice signed it; null where that fails. */
async function byLibrary(bytes: Buffer): Promise<{ content: Buffer; valid: boolean } | null> {
  try {
    const message = await readMessage({ binaryMessage: bytes })
    const { data, signatures } = await decrypt({
      message,
      decryptionKeys: secretKey,
      verificationKeys,
      format: 'binary',
      date: new Date(NOW_MS),
    })
    const results = await Promise.all(signatures.map(({ verified }) => verified.catch(() => false)))
    return { content: Buffer.from(data as Uint8Array), valid: results.includes(true) }
  } catch {
    return null
  }
}

test('a file that opens has the content of openpgp.js, and no signature that openpgp.js rejects', async () => {
  let both = 0
  const all = Object.values(INNER)
  const messages = [...MESSAGES, ...all.map((inner) => toBot(inner))]
  for (const seed of [null, ...seeds(120)]) {
    const random = randomFrom(seed ?? 1)
    const chosen =
      seed === null
        ? messages
        : [mutate(messages[random(messages.length)] ?? Buffer.alloc(1), random)]
    for (const bytes of chosen) {
      const [here, theirs] = [await openFile(bytes, { pieces: 300 }), await byLibrary(bytes)]
      if (here.outcome !== 'opened') continue
      const results = await verify(here.signed, alice.certificate, NOW_MS)
      if (theirs === null) continue
      both++
      expect((await contentOf(here.file)).equals(theirs.content), `FUZZ_SEED=${seed}`).toBe(true)
      expect(results.includes('valid') && !theirs.valid, `FUZZ_SEED=${seed}`).toBe(false)
    }
  }
  expect(both).toBeGreaterThan(20)
})
