import { expect, test } from 'vitest'
import type { Signed, SignatureResult } from '../../../src/openpgp/engine.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { openInner } from '../../support/openpgp-engine.ts'
import {
  hashedForm,
  literal,
  signedLiteral,
  type SigningOptions,
} from '../../support/openpgp-inner.ts'
import { concat, u16 } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot, mallory } from '../../support/openpgp-people.ts'
import {
  TYPE,
  expiresAfter,
  intendedRecipient,
  issuer,
  issuerFingerprint,
  notation,
  onePass,
  signature,
  subpacket,
} from '../../support/openpgp-signature.ts'

const by: SigningOptions = { signer: alice.primary, atMs: NOW_MS }
const DAY_S = 86_400

async function signedOf(inner: Uint8Array): Promise<Signed> {
  const opened = await openInner(inner)
  if (opened.outcome !== 'opened') throw new Error(JSON.stringify(opened))
  return opened.signed
}

/** Verifies a message that is signed so, against a certificate of alice's unless told. */
async function results(
  signing: SigningOptions | SigningOptions[],
  { text = 'hello', certificate = alice.certificate, nowMs = NOW_MS } = {},
): Promise<SignatureResult[]> {
  return await verify(await signedOf(signedLiteral(text, signing)), certificate, nowMs)
}

test('P27 a signature by the certificate is valid', async () => {
  expect(await results(by)).toEqual(['valid'])
})

test.each(['sha256', 'sha384', 'sha512'] as const)('P27 over %s', async (hash) => {
  expect(await results({ ...by, hash })).toEqual(['valid'])
})

test('P28 a signature by another key is by another key', async () => {
  expect(await results(by, { certificate: mallory.certificate })).toEqual(['other-key'])
})

test('P30 a signature over other words is bad', async () => {
  const swapped = concat(
    onePass(by),
    literal('world'),
    signature({ ...by, over: Buffer.from('hello') }),
  )
  expect(await verify(await signedOf(swapped), alice.certificate, NOW_MS)).toEqual(['bad'])
})

test.each(['sha1', 'md5'] as const)('P31 a signature over %s is bad', async (hash) => {
  expect(await results({ ...by, hash })).toEqual(['bad'])
})

test.each([
  ['standalone', TYPE.standalone],
  ['timestamp', TYPE.timestamp],
  ['certification', TYPE.certification],
])('P32 a signature of type %s is bad', async (_, type) => {
  expect(await results({ ...by, type })).toEqual(['bad'])
})

test.each([
  [-10_000, 'valid'],
  [0, 'valid'],
  [5000, 'valid'],
  [299_000, 'valid'],
  [300_000, 'valid'],
  [301_000, 'bad'],
  [3_600_000, 'bad'],
] as const)('P33 a signature dated %i ms ahead of our clock is %s', async (aheadMs, result) => {
  expect(await results({ ...by, atMs: NOW_MS + aheadMs })).toEqual([result])
})

test.each([
  [DAY_S + 1, 'valid'],
  [DAY_S - 1, 'bad'],
  [1, 'bad'],
] as const)(
  'P34 a signature of yesterday that expires after %i s is %s',
  async (seconds, result) => {
    const signing = { ...by, atMs: NOW_MS - DAY_S * 1000, hashed: [expiresAfter(seconds)] }
    expect(await results(signing)).toEqual([result])
  },
)

test('P34 a signature from before its key was made is bad', async () => {
  expect(await results({ ...by, atMs: alice.primary.createdMs - 1000 })).toEqual(['bad'])
})

test.each([
  ['P36 a critical unknown notation', notation('x@example.org', 'y', true), 'bad'],
  ['P36 an unknown notation', notation('x@example.org', 'y'), 'valid'],
  ['P36 a critical unknown subpacket', subpacket(101, concat(1), true), 'bad'],
  ['P36 an unknown subpacket', subpacket(101, concat(1)), 'valid'],
  ['P37 an intended recipient', intendedRecipient(bot.primary.fingerprint), 'valid'],
  ['P37 a critical intended recipient', intendedRecipient(bot.primary.fingerprint, true), 'valid'],
])('a signature with %s is judged', async (_, hashed, result) => {
  expect(await results({ ...by, hashed: [hashed] })).toEqual([result])
})

test('P29 each of several signatures is judged by itself', async () => {
  const others = { ...by, signer: mallory.primary }
  const broken = { ...by, numbers: concat(u16(8), 255, u16(8), 255) }
  expect(await results([by, others])).toEqual(['other-key', 'valid'])
  expect(await results([broken, by])).toEqual(['valid', 'bad'])
  expect(await results([by, by, by, by])).toEqual(['valid', 'valid', 'valid', 'valid'])
})

test.each([
  ['numbers of another', { numbers: mallory.primary.sign(Buffer.alloc(32), 'sha256') }],
  ['zeros', { numbers: concat(u16(0), u16(0)) }],
  ['one number', { numbers: concat(u16(8), 255) }],
  ['numbers longer than the packet', { numbers: concat('ffff', 'ff') }],
  ['no numbers', { numbers: Buffer.alloc(0) }],
  ['the algorithm of another key', { signer: { ...alice.primary, algorithm: 1 } }],
  ['an unknown algorithm', { signer: { ...alice.primary, algorithm: 99 } }],
])('a signature with %s is bad', async (_, spoilt) => {
  expect(await results({ ...by, ...spoilt })).toEqual(['bad'])
})

test('a signature that names no issuer is bad', async () => {
  expect(await results({ ...by, unhashed: [] })).toEqual(['bad'])
})

test('a signature that names another issuer than made it is never valid', async () => {
  const { fingerprint } = mallory.primary
  const lies = [
    [issuer(fingerprint)],
    [issuerFingerprint(fingerprint)],
    [issuer(fingerprint), issuerFingerprint(alice.primary.fingerprint)],
  ]
  for (const unhashed of lies) {
    expect(await results({ ...by, unhashed }, { certificate: mallory.certificate })).not.toContain(
      'valid',
    )
  }
})

test('a signature by the encryption subkey is not valid', async () => {
  const signer = { ...alice.primary, fingerprint: alice.subkey.fingerprint }
  expect(await results({ ...by, signer })).toEqual(['bad'])
})

test('an old signature of version 3 is bad', async () => {
  const old = concat(0xc2, 19, 3, 5, 0, '69000000', alice.primary.keyId, 22, 8, '0000')
  const signed = await signedOf(concat(old, literal('hello')))
  expect(await verify(signed, alice.certificate, NOW_MS)).toEqual(['bad'])
})

test.each(['a\nb', 'a\r\nb', 'a\nb\n', 'a \t\nb', 'grüße\n世界\r\n', '\n\n', ''])(
  'a text signature over %j is valid',
  async (text) => {
    expect(await results({ ...by, type: TYPE.text }, { text })).toEqual(['valid'])
  },
)

test('a text signature holds when line ends were changed on the way, a binary one does not', async () => {
  const arrived = literal('a\r\nb')
  const written = Buffer.from('a\nb')
  for (const [type, result] of [
    [TYPE.text, 'valid'],
    [TYPE.binary, 'bad'],
  ] as const) {
    const signing = { ...by, type }
    const over = hashedForm(written, signing)
    const inner = concat(onePass(signing), arrived, signature({ ...signing, over }))
    expect(await verify(await signedOf(inner), alice.certificate, NOW_MS)).toEqual([result])
  }
})

test('without signatures there are no results', async () => {
  expect(await verify(await signedOf(literal('hello')), alice.certificate, NOW_MS)).toEqual([])
})

test('a signature stays valid whatever frames the message and however often it is asked', async () => {
  const signed = await signedOf(signedLiteral('hello', by))
  for (let round = 0; round < 3; round++) {
    expect(await verify(signed, alice.certificate, NOW_MS)).toEqual(['valid'])
    expect(await verify(signed, mallory.certificate, NOW_MS)).toEqual(['other-key'])
  }
})
