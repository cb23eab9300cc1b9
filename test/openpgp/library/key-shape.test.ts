/** The checks of keys before any library parses them. */
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { shapeOfSecret, shapeProblem, type Shape } from '../../../src/openpgp/library/key-shape.ts'
import { concat, seeded, u16 } from '../../support/openpgp-bytes.ts'
import { armor, longPacket, packet } from '../../support/openpgp-framing.ts'
import { alice, mallory, rsaKey } from '../../support/openpgp-people.ts'
import { issuer, issuerFingerprint } from '../../support/openpgp-signature.ts'

const { primary, subkey } = alice
const primaryKey = packet(6, primary.body)
const publicSubkey = packet(14, subkey.body)
const userId = packet(13, Buffer.from('alice'))
const trust = packet(12, Buffer.of(1))

/** A signature that names these as its makers, one after the other. */
function by(...named: Buffer[]): Buffer {
  const area = concat(...named)
  return packet(2, concat(4, 0x13, 22, 8, u16(0), u16(area.length), area))
}
const own = by(issuer(primary.fingerprint))
const others = by(issuer(mallory.primary.fingerprint))
const times = (count: number, one: Buffer): Buffer => Buffer.alloc(one.length * count, one)
const problemOf = (...packets: Buffer[]): string | null =>
  shapeProblem(armor(concat(...packets), { type: 'PUBLIC KEY BLOCK', checksum: false }))

test('`shapeProblem` accepts a certificate', () => {
  expect(shapeProblem(alice.certificate)).toBeNull()
  expect(problemOf(primaryKey, userId, own, publicSubkey, own)).toBeNull()
})

test('`shapeProblem` accepts a text of `BOUNDS.certificateChars`, and not one character more', () => {
  const most = BOUNDS.certificateChars
  expect(shapeProblem(alice.certificate.padEnd(most, '\n'))).toBeNull()
  expect(shapeProblem(alice.certificate.padEnd(most + 1, '\n'))).toBe('too-large')
})

const secretKey = packet(5, primary.secretBody)

test.each([
  ['text without armor', 'hello', 'unparseable'],
  ['a secret key', armor(secretKey, { type: 'PRIVATE KEY BLOCK' }), 'secret-key'],
  ['a message', armor(primaryKey), 'unparseable'],
])('`shapeProblem` rejects %s', (_, text, problem) => {
  expect(shapeProblem(text)).toBe(problem)
})

test.each([
  ['a secret key in a public key block', [secretKey], 'secret-key'],
  ['a secret subkey', [primaryKey, packet(7, subkey.secretBody)], 'secret-key'],
  ['two primary keys', [primaryKey, userId, primaryKey], 'several-certificates'],
  ['a key of version 3', [packet(6, concat(3, primary.body.subarray(1)))], 'version'],
  ['a key of version 6', [packet(6, concat(6, primary.body.subarray(1)))], 'version'],
  ['a user id before the key', [userId, primaryKey], 'unparseable'],
  ['a subkey before the key', [publicSubkey, primaryKey], 'unparseable'],
  ['bytes that are no packet', [primaryKey, Buffer.from('hello')], 'unparseable'],
  ['a truncated packet', [primaryKey, userId.subarray(0, -1)], 'unparseable'],
])('`shapeProblem` rejects a certificate with %s', (_, packets, problem) => {
  expect(problemOf(...packets)).toBe(problem)
})

test.each<[string, number, (count: number) => Buffer[]]>([
  ['packets', 512, (count) => [primaryKey, times(count - 1, trust)]],
  ['own signatures', 256, (count) => [primaryKey, userId, publicSubkey, times(count, own)]],
  ['signatures without an issuer', 256, (count) => [primaryKey, userId, times(count, by())]],
])('`shapeProblem` limits %s to %i', (_, most, packets) => {
  expect(problemOf(...packets(most))).toBeNull()
  expect(problemOf(...packets(most + 1))).toBe('too-large')
})

test('`shapeProblem` does not count signatures that name other keys alone', () => {
  expect(problemOf(primaryKey, userId, times(200, others))).toBeNull()
  const both = by(issuer(mallory.primary.fingerprint), issuerFingerprint(primary.fingerprint))
  expect(problemOf(primaryKey, userId, times(257, both))).toBe('too-large')
})

const { body } = primary
const number = primary.secretBody.subarray(body.length + 1)
const lock = concat(254, 9, 3, 8, seeded('salt', 8), 96, seeded('iv', 16), seeded('sealed', 54))
const gnu = (usage: number, mode: number): Buffer =>
  concat(usage, usage === 253 ? '0000' : '00', 101, 0, Buffer.from('GNU'), mode)
const KEPT = {
  open: concat(0, number),
  locked: lock,
  'locked by IDEA': concat(254, 1, lock.subarray(2)),
  stub: gnu(254, 1),
  card: gnu(254, 2),
  'old lock': concat(255, 9, 3, 8, lock.subarray(4)),
  AEAD: concat(253, 9, 2, 3, 8, lock.subarray(4)),
  'a simple hash': concat(254, 9, 0, 8, lock.subarray(4)),
  'no cipher': concat(254, 0, 3, 8, lock.subarray(4)),
  'a cipher for its lock': concat(9, lock.subarray(4)),
} as const
type Kept = keyof typeof KEPT

const keyKept = (kept: Kept): Buffer => packet(5, concat(body, KEPT[kept]))
const subkeyKept = (kept: Kept): Buffer => packet(7, concat(subkey.body, KEPT[kept]))
const shapeOf = (...packets: Buffer[]): Shape => shapeOfSecret(concat(...packets))
const verdictOf = (shape: Shape): string | boolean =>
  'unfit' in shape ? shape.unfit : shape.isLocked

test.each<[Kept, Kept, string | boolean]>([
  ['open', 'open', false],
  ['locked', 'locked', true],
  ['locked by IDEA', 'locked by IDEA', true],
  ['open', 'locked', 'unusual-s2k'],
  ['locked', 'open', 'unusual-s2k'],
  ['old lock', 'old lock', 'unusual-s2k'],
  ['AEAD', 'AEAD', 'unusual-s2k'],
  ['a simple hash', 'a simple hash', 'unusual-s2k'],
  ['no cipher', 'no cipher', 'unusual-s2k'],
  ['a cipher for its lock', 'a cipher for its lock', 'unusual-s2k'],
  ['locked', 'AEAD', 'unusual-s2k'],
  ['stub', 'locked', 'subkeys-only'],
  ['stub', 'open', 'subkeys-only'],
  ['stub', 'stub', 'stub'],
  ['locked', 'stub', 'stub'],
  ['card', 'locked', 'smartcard'],
  ['locked', 'card', 'smartcard'],
  ['stub', 'card', 'smartcard'],
])('the secrets of a key (%s) with a subkey (%s) are reported as %s', (one, other, verdict) => {
  expect(verdictOf(shapeOf(keyKept(one), userId, subkeyKept(other)))).toBe(verdict)
})

test.each([253, 254, 255])('a GNU stub with usage %i is recognized by its mark', (usage) => {
  const of = (kept: Buffer): string | boolean => verdictOf(shapeOf(packet(5, concat(body, kept))))
  expect(of(gnu(usage, 1))).toBe('stub')
  expect(of(gnu(usage, 2))).toBe('smartcard')
  const unmarked = gnu(usage, 1)
  unmarked.write('GNX', unmarked.length - 4)
  expect(of(unmarked)).toBe('unusual-s2k')
})

test('`shapeOfSecret` returns the packets of an armored or binary key', () => {
  const bytes = concat(keyKept('open'), userId, subkeyKept('open'))
  expect(shapeOfSecret(bytes)).toEqual({ bytes, isLocked: false, certificate: null })
  const text = Buffer.from(armor(bytes, { type: 'PRIVATE KEY BLOCK' }))
  const shape = shapeOfSecret(text)
  expect('bytes' in shape && Buffer.from(shape.bytes)).toEqual(bytes)
})

test('`shapeOfSecret` passes over markers and padding, and returns the certificate of the key behind it', () => {
  const bytes = concat(keyKept('locked'), userId, subkeyKept('locked'))
  const certificate = concat(primaryKey, userId, own, publicSubkey, own)
  const [marker, padding] = [packet(10, Buffer.from('PGP')), packet(21, Buffer.of(7))]
  const expected = { bytes, isLocked: true, certificate }
  expect(shapeOf(marker, bytes, padding, certificate, marker)).toEqual(expected)
  const blocks = [
    armor(concat(marker, bytes), { type: 'PRIVATE KEY BLOCK' }),
    armor(certificate, { type: 'PUBLIC KEY BLOCK' }),
  ]
  expect(shapeOfSecret(Buffer.from(blocks.join('\n')))).toEqual(expected)
})

const privateBlock = armor(keyKept('open'), { type: 'PRIVATE KEY BLOCK' })

test.each([
  ['no bytes', '', 'unparseable'],
  ['text', 'hello', 'unparseable'],
  ['two blocks', `${privateBlock}\n${privateBlock}`, 'several-keys'],
  ['a certificate', alice.certificate, 'public-only'],
  ['another certificate behind a block', `${privateBlock}\n${mallory.certificate}`, 'several-keys'],
  ['a certificate before a block', `${alice.certificate}\n${privateBlock}`, 'unparseable'],
  ['text behind a block', `${privateBlock}\nhello`, 'unparseable'],
  ['text before a certificate', `hello\n${alice.certificate}`, 'public-only'],
  ['an empty block', armor(Buffer.alloc(0), { type: 'PRIVATE KEY BLOCK' }), 'unparseable'],
  ['text before a block', `a ${privateBlock}`, 'unparseable'],
  ['text before two blocks', `a ${privateBlock}${privateBlock}`, 'unparseable'],
])('`shapeOfSecret` rejects a file of %s', (_, text, verdict) => {
  expect(verdictOf(shapeOfSecret(Buffer.from(text)))).toBe(verdict)
})

test.each([
  ['a certificate', [primaryKey, userId], 'public-only'],
  ['a user id before the key', [userId, keyKept('open')], 'unparseable'],
  ['a subkey before the key', [subkeyKept('open'), keyKept('open')], 'unparseable'],
  ['two keys', [keyKept('open'), userId, keyKept('open')], 'several-keys'],
  ['a marker alone', [packet(10, Buffer.from('PGP'))], 'unparseable'],
  ['a key and another certificate', [keyKept('open'), packet(6, subkey.body)], 'several-keys'],
  ['a key and two certificates', [keyKept('open'), primaryKey, primaryKey], 'several-keys'],
  ['a key in its certificate', [keyKept('open'), primaryKey, subkeyKept('open')], 'several-keys'],
  ['a subkey in the certificate alone', [keyKept('open'), primaryKey, publicSubkey], 'stub'],
  ['a public subkey', [keyKept('open'), publicSubkey], 'stub'],
  ['a key of version 3', [packet(5, concat(3, body.subarray(1), 0))], 'version'],
  [
    'a subkey of version 6',
    [keyKept('open'), packet(7, concat(6, body.subarray(1), 0))],
    'version',
  ],
  ['a key of an unknown algorithm', [packet(5, concat(body.subarray(0, 5), 99))], 'weak-algorithm'],
  ['a key that is truncated before its numbers', [packet(5, body.subarray(0, 6))], 'unparseable'],
  ['bytes that are no packet', [keyKept('open'), Buffer.from('hello')], 'unparseable'],
  ['a truncated packet', [keyKept('open').subarray(0, -1)], 'unparseable'],
])('`shapeOfSecret` rejects packets of %s', (_, packets, verdict) => {
  expect(verdictOf(shapeOf(...packets))).toBe(verdict)
})

const [small, named] = [concat(u16(3), 5), concat(2, 7, 8)]
const nist = concat(8, '2a8648ce3d030107')

test.each<[number, Buffer[]]>([
  [1, [small, small]],
  [2, [small, small]],
  [3, [small, small]],
  [16, [small, small, small]],
  [17, [small, small, small, small]],
  [18, [nist, small, named]],
  [19, [nist, small]],
  [22, [concat(9, '2b06010401da470f01'), small]],
])('the public fields of algorithm %i are skipped to find the lock', (id, fields) => {
  const start = concat(body.subarray(0, 5), id, ...fields)
  expect(verdictOf(shapeOf(packet(5, concat(start, lock))))).toBe(true)
})

test.each([
  ['Brainpool P-256', '2b2403030208010107'],
  ['secp256k1', '2b8104000a'],
  ['Ed448', '2b6571'],
])('a key or subkey on %s is reported as `unsupported-curve`', (_, curve) => {
  const on = concat(body.subarray(0, 5), 19, curve.length / 2, curve, small, KEPT.locked)
  expect(verdictOf(shapeOf(packet(5, on)))).toBe('unsupported-curve')
  expect(verdictOf(shapeOf(keyKept('locked'), packet(7, on)))).toBe('unsupported-curve')
})

test('the public fields of an RSA key are skipped to find the secret', () => {
  expect(verdictOf(shapeOf(packet(5, rsaKey(1024).secretBody)))).toBe(false)
})

test.each([25, 26, 27, 28])('a key of algorithm %i is rejected as `newer-algorithm`', (id) => {
  expect(verdictOf(shapeOf(packet(5, concat(body.subarray(0, 5), id))))).toBe('newer-algorithm')
})

test('`shapeOfSecret` limits packets to 512 and bytes to `BOUNDS.secretKeyBytes`', () => {
  expect(verdictOf(shapeOf(keyKept('open'), times(511, trust)))).toBe(false)
  expect(verdictOf(shapeOf(keyKept('open'), times(512, trust)))).toBe('too-large')
  const key = keyKept('open')
  const filler = (bytes: number): Buffer => longPacket(60, Buffer.alloc(bytes - 6))
  const most = BOUNDS.secretKeyBytes
  expect(verdictOf(shapeOf(key, filler(most - key.length)))).toBe(false)
  expect(verdictOf(shapeOf(key, filler(most - key.length + 1)))).toBe('too-large')
})
