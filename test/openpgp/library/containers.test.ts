import { expect, test } from 'vitest'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { BZIP2_SIGNED } from '../../support/openpgp-bzip2.ts'
import { KEY, openPackets, outcomeOf } from '../../support/openpgp-engine.ts'
import { compressed, compressedOf, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { onePass, signature } from '../../support/openpgp-signature.ts'
import { pkesk, pkesk6, seipd, seipd2, sessionKey } from '../../support/openpgp-sealed.ts'

/** Containers that openpgp.js opens; the grammar inside is that of all containers. */
const OLD = sessionKey('old cipher', 2)
const CAMELLIA = sessionKey('Camellia', 13)
const CONTAINERS: [string, (inner: Uint8Array) => Buffer][] = [
  ['version 2', (inner) => concat(pkesk6(bot.subkey, KEY), seipd2(inner, KEY))],
  ['Triple-DES', (inner) => concat(pkesk(bot.subkey, OLD), seipd(inner, OLD))],
  ['Camellia', (inner) => concat(pkesk(bot.subkey, CAMELLIA), seipd(inner, CAMELLIA))],
]

const by = { signer: alice.primary, atMs: NOW_MS }
const signed = signedLiteral('hello', by)
const closing = signature({ ...by, over: Buffer.from('hello') })

for (const [name, seal] of CONTAINERS) {
  test.each([
    ['a literal', literal('hello'), 0],
    ['a signed literal', signed, 1],
    ['a signature before a literal', concat(closing, literal('hello')), 1],
    ['a signed literal in zip', compressed(signed, 1), 1],
    ['a signed literal in bzip2', compressedOf(3, BZIP2_SIGNED), 1],
    ['a signed literal in bzip2 in zlib', compressed(compressedOf(3, BZIP2_SIGNED), 2), 1],
    ['a signed literal of format m', signedLiteral('hello', by, { format: 'm' }), 1],
    [
      'a signature around zip data',
      concat(onePass(by), compressed(literal('hello'), 1), closing),
      0,
    ],
  ])(`a ${name} container with %s opens`, async (_, inner, signatures) => {
    const opened = await openPackets(seal(inner))
    expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
    if (opened.outcome !== 'opened') return
    const valid = Array.from({ length: signatures }, () => 'valid')
    expect(await verify(opened.signed, alice.certificate, NOW_MS)).toEqual(valid)
  })

  test.each([
    ['two literals', concat(literal('hello'), literal('world'))],
    ['a literal behind a signed one', concat(signed, literal('world'))],
    [
      'a compressed text beside a literal',
      concat(literal('world'), compressed(literal('hello'), 1)),
    ],
    ['a one-pass packet without a signature', concat(onePass(by), literal('hello'))],
    ['bytes behind a literal', concat(literal('hello'), 0)],
    ['a literal that is not UTF-8', literal(concat('ff'))],
  ])(`a ${name} container with %s is damaged`, async (_, inner) => {
    expect(outcomeOf(await openPackets(seal(inner)))).toMatch(/^damaged: /)
  })

  test(`a ${name} container with a compression bomb does not open`, async () => {
    const bomb = compressed(literal(Buffer.alloc(1 << 23)), 1)
    expect(outcomeOf(await openPackets(seal(bomb)))).toMatch(/^(damaged|too-large): /)
  })
}
