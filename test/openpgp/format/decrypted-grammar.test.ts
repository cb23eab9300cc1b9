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
  ['a one-pass signed literal (P27)', [signed], 1],
  ['two signatures before a literal', [closing, closing, hello], 2],
  [
    'two one-pass signatures (P29)',
    [signedLiteral('hello', [by, { ...by, signer: mallory.primary }])],
    2,
  ],
  ['four one-pass signatures', [signedLiteral('hello', [by, by, by, by])], 4],
  [
    'markers and padding between all packets',
    [marker, opening, padding, hello, marker, closing, padding],
    1,
  ],
  [
    'unknown packets of non-critical types',
    [packet(60, seeded('x', 9)), signed, packet(40, seeded('y', 9))],
    1,
  ],
  [
    'old packet headers',
    [
      oldPacket(4, opening.subarray(2), 1),
      oldPacket(11, hello.subarray(2), 4),
      oldPacket(2, closing.subarray(2), 2),
    ],
    1,
  ],
  [
    'a signature before compressed data, which does not count (P39)',
    [closing, compressed(hello, 1)],
    0,
  ],
])('a message with %s opens with the signatures that count', async (_, packets, signatures) => {
  const opened = await openInner(concat(...packets))
  expect(opened).toMatchObject({ outcome: 'opened', text: 'hello' })
  expect(opened.outcome === 'opened' && opened.signatures).toHaveLength(signatures)
})

test.each([
  ['markers and padding alone', [marker, padding], 'structure'],
  ['compressed encryption inside (P25)', [compressed(encrypted, 2)], 'structure'],
  ['a literal behind a signed one (P26)', [signed, hello], 'structure'],
  ['a literal before one-pass signatures (P26)', [hello, signed], 'structure'],
  ['two one-pass packets and one signature (P26)', [opening, opening, hello, closing], 'structure'],
  ['one one-pass packet and two signatures (P26)', [opening, hello, closing, closing], 'structure'],
  ['signatures before and behind (P26)', [closing, hello, closing], 'structure'],
  [
    'a signature and a one-pass packet before (P26)',
    [closing, opening, hello, closing],
    'structure',
  ],
  [
    'a signature and a one-pass packet before, two signatures behind (P26)',
    [closing, opening, hello, closing, closing],
    'structure',
  ],
  ['a one-pass packet behind (P26)', [hello, opening], 'structure'],
  ['signatures alone (P26)', [opening, closing], 'structure'],
  [
    'five signatures before (P29)',
    [closing, closing, closing, closing, closing, hello],
    'too-many-signatures',
  ],
  ['two compressed packets', [compressed(hello, 2), compressed(hello, 2)], 'structure'],
  ['a compressed packet, then a literal', [compressed(hello, 2), literal('world')], 'structure'],
  [
    'a one-pass packet and compressed data, without a signature',
    [opening, compressed(hello, 2)],
    'structure',
  ],
  ['a signature behind compressed data', [compressed(hello, 2), closing], 'structure'],
  [
    'a user id beside a compressed packet',
    [packet(13, Buffer.from('x')), compressed(hello, 2)],
    'structure',
  ],
  ['a user id beside a literal', [packet(13, Buffer.from('x')), hello], 'structure'],
  ['a public key', [packet(6, alice.primary.body)], 'structure'],
  ['a hash packet of its own', [hello, packet(19, seeded('x', 20))], 'structure'],
  ['bytes behind that are no packet', [hello, Buffer.from('\0\0')], 'header'],
  ['text without any packet', [Buffer.from('hello')], 'header'],
  [
    'a literal in chunks of one byte',
    [partialPacket(11, hello.subarray(2), [0])],
    'partial-length',
  ],
  ['a recipient packet beside a literal', [pkesk(bot.subkey, other), hello], 'structure'],
])('a message with %s is damaged', async (_, packets, why) => {
  expect(outcomeOf(await openInner(concat(...packets)))).toBe(`damaged: ${why}`)
})

test.each([
  ['type', { ...by, type: TYPE.text }],
  ['hash', { ...by, hash: 'sha512' as const }],
  ['algorithm', { ...by, signer: { ...alice.primary, algorithm: 1 } }],
])(
  'a one-pass packet with another %s than its signature damages the message',
  async (_, options) => {
    const packets = concat(onePass(options), hello, closing)
    expect(outcomeOf(await openInner(packets))).toBe('damaged: one-pass')
  },
)

test('the one-pass packets of a message are paired with its signatures from the inside out', async () => {
  const text = { ...by, type: TYPE.text }
  const closeText = signature({ ...text, over: Buffer.from('hello') })
  const nested = concat(onePass(text), opening, hello, closing, closeText)
  expect(outcomeOf(await openInner(nested))).toBe('opened')
  const crossed = concat(onePass(text), opening, hello, closeText, closing)
  expect(outcomeOf(await openInner(crossed))).toBe('damaged: one-pass')
  const outer = concat(onePass(text), opening, hello, closing, closing)
  expect(outcomeOf(await openInner(outer))).toBe('damaged: one-pass')
})

test('two signatures without a readable claim have different digests', async () => {
  const odd = signature({ ...by, type: TYPE.standalone, over: Buffer.from('hello') })
  const opened = await openInner(concat(odd, odd, hello))
  const claims = opened.outcome === 'opened' ? opened.signatures : []
  expect(claims.map(({ digest }) => digest)).toEqual(['unreadable-0', 'unreadable-1'])
  expect(claims.map(({ intended }) => intended)).toEqual([[], []])
})

test('a damaged literal inside a signed compressed packet is reported as `literal`', async () => {
  const inner = concat(onePass(by), compressed(literal('hello', { format: 'z' }), 2), closing)
  expect(await openInner(inner)).toEqual({ outcome: 'damaged', reason: 'literal' })
})
