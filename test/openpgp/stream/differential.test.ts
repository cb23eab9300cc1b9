import { decrypt, readMessage, readPrivateKey, readKey } from 'openpgp'
import { beforeAll, expect, test } from 'vitest'
import type { Opened, OpenedFile, NotOpened } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openFile } from '../../support/bulk.ts'
import { contentOf } from '../../support/memory-room.ts'
import { openPackets, toBot } from '../../support/openpgp-engine.ts'
import { seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { small } from '../../vectors/cases/bodies.ts'
import { PACKETS } from '../../vectors/cases/inner.ts'
import { OUTER } from '../../vectors/cases/outer.ts'
import { SIGNATURES } from '../../vectors/cases/signatures.ts'

const INNER = small(PACKETS)
const FRAMED = small(OUTER)
const MESSAGES = [...FRAMED, ...small(SIGNATURES)]

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

test('a message with mutated packets inside is read as a file with the same result', async () => {
  for (const seed of seeds(250)) {
    const random = randomFrom(seed)
    const inner = mutate(INNER[random(INNER.length)]?.[1] ?? Buffer.alloc(1), random)
    await expectSame(toBot(inner), 1 + random(900), `FUZZ_SEED=${seed}`)
  }
})

test('a mutated message is read as a file with the same result', async () => {
  for (const seed of seeds(180)) {
    const random = randomFrom(seed)
    const spoilt = mutate(MESSAGES[random(MESSAGES.length)]?.[1] ?? Buffer.alloc(1), random)
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
  const messages = [
    ...FRAMED.map(([, message]) => message),
    ...INNER.map(([, inner]) => toBot(inner)),
  ]
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
