import { expect, test } from 'vitest'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { BZIP2_SIGNED } from '../../support/openpgp-bzip2.ts'
import { KEY, openPackets, outcomeOf } from '../../support/openpgp-engine.ts'
import { packet } from '../../support/openpgp-framing.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { pkesk, pkesk6, seipd, seipd2, sessionKey } from '../../support/openpgp-sealed.ts'

/** Containers that the library opens for us; what is in them must be judged as in any other. */
const OLD = sessionKey('old cipher', 2)
const CONTAINERS: [string, (inner: Uint8Array) => Buffer][] = [
  ['version 2', (inner) => concat(pkesk6(bot.subkey, KEY), seipd2(inner, KEY))],
  ['Triple-DES', (inner) => concat(pkesk(bot.subkey, OLD), seipd(inner, OLD))],
]

const by = { signer: alice.primary, atMs: NOW_MS }
const signed = signedLiteral('hello', by)
const closing = signature({ ...by, over: Buffer.from('hello') })

for (const [name, seal] of CONTAINERS) {
  test.each([
    ['a literal', literal('hello'), 0],
    ['signed', signed, 1],
    ['signature first', concat(closing, literal('hello')), 1],
    ['signed and zip', compressed(signed, 1), 1],
    ['signed and zlib', compressed(signed, 2), 1],
    ['signed and not compressed', compressed(signed, 0), 1],
    ['signed and bzip2', compressedOf(3, BZIP2_SIGNED), 1],
    ['signed around compressed', concat(onePass(by), compressed(literal('hello'), 1), closing), 0],
  ])(`${name}: %s opens`, async (_, inner, signatures) => {
    const opened = await openPackets(seal(inner))
    expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
    if (opened.outcome !== 'opened') return
    const valid = Array.from({ length: signatures }, () => 'valid')
    expect(await verify(opened.signed, alice.certificate, NOW_MS)).toEqual(valid)
  })

  test.each([
    ['two literals', concat(literal('hello'), literal('world'))],
    ['a literal after a signed one', concat(signed, literal('world'))],
    ['a literal before a signed one', concat(literal('world'), signed)],
    [
      'a compressed text beside a literal',
      concat(literal('world'), compressed(literal('hello'), 1)),
    ],
    ['one-pass without signature', concat(onePass(by), literal('hello'))],
    ['compressed twice', compressed(compressed(literal('hello'), 1), 2)],
    ['bytes behind', concat(literal('hello'), 0)],
    ['a critical unknown packet behind', concat(literal('hello'), packet(30, seeded('x', 9)))],
    ['a literal cut short', literal('hello').subarray(0, -1)],
    ['no UTF-8', literal(concat('ff'))],
    ['format z', literal('hello', { format: 'z' })],
  ])(`${name}: %s does not open`, async (_, inner) => {
    expect(outcomeOf(await openPackets(seal(inner)))).toMatch(/^damaged: /)
  })

  test(`${name}: a bomb does not open`, async () => {
    const bomb = compressed(literal(Buffer.alloc(1 << 26)), 1)
    expect(outcomeOf(await openPackets(seal(bomb)))).toMatch(/^(damaged|too-large): /)
  })
}
