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
import { NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  TYPE,
  expiresAfter,
  issuer,
  issuerFingerprint,
  onePass,
  signature,
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

test.each(['sha256', 'sha384', 'sha512'] as const)(
  'a signature over %s is valid (P27)',
  async (hash) => {
    expect(await results({ ...by, hash })).toEqual(['valid'])
  },
)

test.each([
  [-10_000, 'valid'],
  [0, 'valid'],
  [5000, 'valid'],
  [299_000, 'valid'],
  [300_000, 'valid'],
  [301_000, 'bad'],
  [3_600_000, 'bad'],
] as const)('a signature that is dated %i ms ahead is %s (P33)', async (aheadMs, result) => {
  expect(await results({ ...by, atMs: NOW_MS + aheadMs })).toEqual([result])
})

test.each([
  [DAY_S + 1, 'valid'],
  [DAY_S - 1, 'bad'],
  [1, 'bad'],
] as const)(
  'a signature of yesterday that expires after %i s is %s (P34)',
  async (seconds, result) => {
    const signing = { ...by, atMs: NOW_MS - DAY_S * 1000, hashed: [expiresAfter(seconds)] }
    expect(await results(signing)).toEqual([result])
  },
)

test.each([
  ['numbers of another signature', { numbers: mallory.primary.sign(Buffer.alloc(32), 'sha256') }],
  ['zero numbers', { numbers: concat(u16(0), u16(0)) }],
  ['a single number', { numbers: concat(u16(8), 255) }],
  ['numbers longer than the packet', { numbers: concat('ffff', 'ff') }],
  ['no numbers', { numbers: Buffer.alloc(0) }],
  ['the algorithm of another key', { signer: { ...alice.primary, algorithm: 1 } }],
  ['an unknown algorithm', { signer: { ...alice.primary, algorithm: 99 } }],
])('a signature with %s is bad', async (_, spoilt) => {
  expect(await results({ ...by, ...spoilt })).toEqual(['bad'])
})

test('a signature that names another issuer than its maker is never valid', async () => {
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

test('a signature in the name of the encryption subkey is bad', async () => {
  const signer = { ...alice.primary, fingerprint: alice.subkey.fingerprint }
  expect(await results({ ...by, signer })).toEqual(['bad'])
})

test('a signature of version 3 is bad', async () => {
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

test('a text signature survives changed line ends, and a binary one does not', async () => {
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
