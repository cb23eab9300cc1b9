import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { Engine } from '../../../src/openpgp/engine.ts'
import { MemoryRoom, contentOf, readerOf } from '../../support/memory-room.ts'
import { KEY, toBot } from '../../support/openpgp-engine.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { TYPE } from '../../support/openpgp-signature.ts'
import { pkesk, seipd, sessionKey, strangerPkesk } from '../../support/openpgp-sealed.ts'
import { small } from '../../vectors/cases/bodies.ts'
import { OUTER } from '../../vectors/cases/outer.ts'
import { SIGNATURES } from '../../vectors/cases/signatures.ts'

const engines = [createEngine(), createEngine({ engine: 'library' })]
afterAll(() => Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]())))

const LONG = Buffer.concat([seeded('long', 400_000), Buffer.from('a\r\nb\nc\n')])
const by = { signer: alice.primary, atMs: NOW_MS }
const aes128 = sessionKey('short', 7)
const aes192 = sessionKey('middle', 8)
const old = sessionKey('old', 2)
const ours = pkesk(bot.subkey, KEY)

/** Refused natively, where openpgp.js as it is opens them. */
const STRICTER = /^p18|^p14-hash-header/

const FILES: [name: string, bytes: Buffer][] = [
  ['signed, and longer than any message', toBot(signedLiteral(LONG, by))],
  ['signed as text', toBot(signedLiteral(LONG, { ...by, type: TYPE.text }))],
  ['signed by two', toBot(signedLiteral(LONG, [by, { ...by, signer: mallory.primary }]))],
  ['signed and compressed', toBot(compressed(signedLiteral(LONG, by), 2))],
  ['AES-128', concat(pkesk(bot.subkey, aes128), seipd(literal('hello'), aes128))],
  ['AES-192', concat(pkesk(bot.subkey, aes192), seipd(literal('hello'), aes192))],
  ['Triple-DES', concat(pkesk(bot.subkey, old), seipd(literal(LONG), old))],
  ['for several', concat(strangerPkesk('a'), ours, strangerPkesk('b'), seipd(literal(LONG), KEY))],
  [
    'two PKESK packets for the own key, one with another session key',
    concat(pkesk(bot.subkey, sessionKey('wrong'), 'first'), ours, seipd(literal(LONG), KEY)),
  ],
  ...small(SIGNATURES),
  [
    'a wrapped key that is broken',
    concat(strangerPkesk('a', bot.subkey.keyId), seipd(literal('hello'), KEY)),
  ],
  ...small(OUTER).filter(([name]) => !STRICTER.test(name)),
]

/** The result of a file with an engine, and of its signatures by two people. */
async function made(engine: Engine, bytes: Buffer) {
  const room = new MemoryRoom()
  const options = { form: 'binary' as const, keys: [bot.unlocked], room }
  const opened = await engine.openFile(readerOf(bytes, 50_000), options)
  if (opened.outcome !== 'opened') return { ...opened, filesOpen: room.open }
  const results = [alice, mallory].map(({ certificate }) =>
    engine.verify(opened.signed, certificate, NOW_MS),
  )
  const { file, ...rest } = opened
  return {
    ...rest,
    content: (await contentOf(file)).toString('base64'),
    results: await Promise.all(results),
    filesOpen: room.open,
  }
}

test.each(FILES)('a file (%s) opens natively with the result of openpgp.js', async (_, bytes) => {
  const [native, library] = await Promise.all(engines.map((engine) => made(engine, bytes)))
  expect(native).toEqual(library)
  expect(native?.filesOpen).toBe(native?.outcome === 'opened' ? 1 : 0)
})

/** Of two faults in a file, either may be reported: the library reads the whole file first. */
const withoutReason = (result: unknown): object => ({ ...(result as object), reason: undefined })

test('a mutated file opens natively with the result of openpgp.js', async () => {
  const all = FILES.flatMap(([, bytes]) => (bytes.length < 5000 ? [bytes] : []))
  for (const seed of seeds(100)) {
    const random = randomFrom(seed)
    const bytes = mutate(all[random(all.length)] ?? Buffer.alloc(1), random)
    const [native, library] = await Promise.all(engines.map((engine) => made(engine, bytes)))
    expect(withoutReason(native), `FUZZ_SEED=${seed}`).toEqual(withoutReason(library))
  }
})
