import { expect, test } from 'vitest'
import { openInner, outcomeOf } from '../../support/openpgp-engine.ts'
import { oldPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { compressed, literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import { pkesk, seipd, sessionKey } from '../../support/openpgp-sealed.ts'
import { TYPE, onePass, signature } from '../../support/openpgp-signature.ts'

const by = { signer: alice.primary, atMs: NOW_MS }
const hello = literal('hello')
const signed = signedLiteral('hello', by)
const opening = onePass(by)
const closing = signature({ ...by, over: Buffer.from('hello') })
const other = sessionKey('inside')
const encrypted = concat(pkesk(bot.subkey, other), seipd(hello, other))
const marker = packet(10, Buffer.from('PGP'))
const padding = packet(21, seeded('padding', 100))

test.each([
  ['a literal', [hello], 0],
  ['P27 one-pass signature, literal, signature', [signed], 1],
  ['P38 signature, literal', [closing, hello], 1],
  ['two signatures, literal', [closing, closing, hello], 2],
  [
    'P29 two one-pass signatures',
    [signedLiteral('hello', [by, { ...by, signer: mallory.primary }])],
    2,
  ],
  ['four signatures', [signedLiteral('hello', [by, by, by, by])], 4],
  [
    'markers and padding everywhere',
    [marker, opening, padding, hello, marker, closing, padding],
    1,
  ],
  [
    'unknown packets that may be passed over',
    [packet(60, seeded('x', 9)), signed, packet(40, seeded('y', 9))],
    1,
  ],
  [
    'old headers',
    [
      oldPacket(4, opening.subarray(2), 1),
      oldPacket(11, hello.subarray(2), 4),
      oldPacket(2, closing.subarray(2), 2),
    ],
    1,
  ],
  ['a literal of indeterminate length', [oldPacket(11, hello.subarray(2), 0)], 0],
  ['compressed', [compressed(signed, 2)], 1],
  [
    'P39 a signature around compressed data counts as none',
    [opening, compressed(hello, 2), closing],
    0,
  ],
  ['P39 a signature before compressed data counts as none', [closing, compressed(hello, 1)], 0],
  ['P39 nor do those inside it then', [opening, compressed(signed, 2), closing], 0],
])('%s: opens', async (_, packets, signatures) => {
  const opened = await openInner(concat(...packets))
  expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
  expect(opened.outcome === 'opened' && opened.signatures).toHaveLength(signatures)
})

test.each([
  ['nothing', [], 'structure'],
  ['markers alone', [marker, padding], 'structure'],
  ['P25 encryption inside', [encrypted], 'structure'],
  ['P25 encryption inside, compressed', [compressed(encrypted, 2)], 'structure'],
  ['P26 two literals', [hello, literal('world')], 'structure'],
  ['P26 two literals, one signed', [signed, hello], 'structure'],
  ['P26 a literal before one-pass signatures', [hello, signed], 'structure'],
  ['P26 a literal after one-pass and signature', [opening, hello, closing, hello], 'structure'],
  ['P26 one-pass without signature', [opening, hello], 'structure'],
  ['P26 signature without one-pass, behind', [hello, closing], 'structure'],
  ['P26 two one-pass, one signature', [opening, opening, hello, closing], 'structure'],
  ['P26 one one-pass, two signatures', [opening, hello, closing, closing], 'structure'],
  ['P26 signatures before and behind', [closing, hello, closing], 'structure'],
  ['P26 signature and one-pass before', [closing, opening, hello, closing], 'structure'],
  [
    'P26 signature and one-pass before, as many signatures behind',
    [closing, opening, hello, closing, closing],
    'structure',
  ],
  ['P26 one-pass behind', [hello, opening], 'structure'],
  ['P26 signatures alone', [opening, closing], 'structure'],
  ['P29 five signatures', [signedLiteral('hello', [by, by, by, by, by])], 'too-many-packets'],
  [
    'P29 five signatures before',
    [closing, closing, closing, closing, closing, hello],
    'too-many-signatures',
  ],
  [
    'P29 four hundred signatures',
    [Buffer.alloc(closing.length * 400, closing), hello],
    'too-many-packets',
  ],
  ['two compressed packets', [compressed(hello, 2), compressed(hello, 2)], 'structure'],
  ['a literal beside a compressed packet', [literal('world'), compressed(hello, 2)], 'structure'],
  ['a compressed packet, then a literal', [compressed(hello, 2), literal('world')], 'structure'],
  ['one-pass, compressed, no signature', [opening, compressed(hello, 2)], 'structure'],
  ['compressed, signature', [compressed(hello, 2), closing], 'structure'],
  [
    'a user id beside a compressed packet',
    [packet(13, Buffer.from('x')), compressed(hello, 2)],
    'structure',
  ],
  ['a user id beside a literal', [packet(13, Buffer.from('x')), hello], 'structure'],
  ['a public key', [packet(6, alice.primary.body)], 'structure'],
  ['a critical unknown packet', [packet(30, seeded('x', 9)), hello], 'structure'],
  ['a hash packet of their own', [hello, packet(19, seeded('x', 20))], 'structure'],
  ['bytes that are no packet', [hello, Buffer.from('\0\0')], 'header'],
  ['text without a packet', [Buffer.from('hello')], 'header'],
  ['a literal cut short', [hello.subarray(0, -1)], 'length'],
  [
    'a literal in chunks of one byte',
    [partialPacket(11, hello.subarray(2), [0])],
    'partial-length',
  ],
  ['a recipient packet beside a literal', [pkesk(bot.subkey, other), hello], 'structure'],
])('%s: damaged', async (_, packets, why) => {
  expect(outcomeOf(await openInner(concat(...packets)))).toBe(`damaged: ${why}`)
})

test.each([
  ['type', { ...by, type: TYPE.text }],
  ['hash', { ...by, hash: 'sha512' as const }],
  ['algorithm', { ...by, signer: { ...alice.primary, algorithm: 1 } }],
])('a one-pass packet of another %s than its signature: damaged', async (_, options) => {
  const packets = concat(onePass(options), hello, closing)
  expect(outcomeOf(await openInner(packets))).toBe('damaged: one-pass')
})

test('one-pass packets and signatures are paired from the inside out', async () => {
  const text = { ...by, type: TYPE.text }
  const closeText = signature({ ...text, over: Buffer.from('hello') })
  const nested = concat(onePass(text), opening, hello, closing, closeText)
  expect(outcomeOf(await openInner(nested))).toBe('opened')
  const crossed = concat(onePass(text), opening, hello, closeText, closing)
  expect(outcomeOf(await openInner(crossed))).toBe('damaged: one-pass')
  const outer = concat(onePass(text), opening, hello, closing, closing)
  expect(outcomeOf(await openInner(outer))).toBe('damaged: one-pass')
})

test('signatures that claim nothing are told from each other', async () => {
  const odd = signature({ ...by, type: TYPE.standalone, over: Buffer.from('hello') })
  const opened = await openInner(concat(odd, odd, hello))
  const claims = opened.outcome === 'opened' ? opened.signatures : []
  expect(claims.map(({ digest }) => digest)).toEqual(['unreadable-0', 'unreadable-1'])
  expect(claims.map(({ intended }) => intended)).toEqual([[], []])
})

test('what is damaged inside something that is signed around is just that', async () => {
  const inner = concat(onePass(by), compressed(literal('hello', { format: 'z' }), 2), closing)
  expect(await openInner(inner)).toEqual({ outcome: 'damaged', reason: 'literal' })
})
