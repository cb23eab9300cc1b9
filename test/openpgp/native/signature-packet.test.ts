import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createdS,
  isIssuedBy,
  readSignatureForm,
  soleSubpacket,
  statementOf,
  statementOn,
  type SignaturePacketForm,
} from '../../../src/openpgp/native/signature-packet.ts'
import { concat, u16, u32 } from '../../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, mallory } from '../../support/openpgp-people.ts'
import {
  created,
  issuer,
  issuerFingerprint,
  keyFlags,
  notation,
  signatureBody,
  subpacket,
  type SignatureOptions,
} from '../../support/openpgp-signature.ts'
import { ed25519Native } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const signer = alice.primary
const over = Buffer.from('hello')
const fingerprint = Buffer.from(signer.fingerprint, 'hex')
const body = (options: Partial<SignatureOptions> = {}): Buffer =>
  signatureBody({ signer, over, atMs: NOW_MS, ...options })
const good = body()

function form(options: Partial<SignatureOptions> = {}): SignaturePacketForm {
  const read = readSignatureForm(body(options))
  if (read === null) throw new Error('not read')
  return read
}

/** The body with one byte changed. */
function changed(at: number, byte: number): Buffer {
  const bytes = Buffer.from(good)
  bytes[at] = byte
  return bytes
}

const hashedEnd = 6 + good.readUInt16BE(4)
const unhashedEnd = hashedEnd + 2 + good.readUInt16BE(hashedEnd)

test('`readSignatureForm` reads all fields of a signature packet', () => {
  const read = form({ type: 0x13, hashed: [keyFlags(3)], hash: 'sha512' })
  expect(read).toMatchObject({ type: 0x13, algorithm: 22, hash: 'sha512' })
  expect(read.hashed.map(({ kind }) => kind)).toEqual([2, 27])
  expect(read.unhashed.map(({ kind }) => kind)).toEqual([33, 16])
  const plain = form()
  expect(plain.hashedPart).toEqual(good.subarray(0, hashedEnd))
  expect(plain.left).toEqual(good.subarray(unhashedEnd, unhashedEnd + 2))
  expect(plain.numbers).toHaveLength(64)
})

test.each([
  ['of version 3', changed(0, 3)],
  ['of version 5', changed(0, 5)],
  ['of version 6', changed(0, 6)],
  ['of RSA', changed(2, 1)],
  ['of an unknown algorithm', changed(2, 99)],
  ['over MD5', changed(3, 1)],
  ['over SHA-1', changed(3, 2)],
  ['over an unknown hash', changed(3, 99)],
  ['with a hashed part beyond its end', changed(4, 0xff)],
  ['with an unhashed part beyond its end', changed(hashedEnd, 0xff)],
  ['with a truncated subpacket', changed(6, 0x7f)],
  ['with an empty subpacket', changed(6, 0)],
  ['with a truncated unhashed subpacket', changed(hashedEnd + 2, 0x7f)],
  ['with a number that is too long', changed(unhashedEnd + 2, 0x7f)],
  ['with a trailing byte', concat(good, 0)],
  ['with a five-byte subpacket length', body({ hashed: [concat(255, u32(2), 27, 3)] })],
  ['of no bytes', Buffer.alloc(0)],
])('`readSignatureForm` rejects a signature %s', (_, bytes) => {
  expect(readSignatureForm(good)).not.toBeNull()
  expect(readSignatureForm(bytes)).toBeNull()
})

test('`readSignatureForm` rejects a signature that is truncated anywhere', () => {
  for (let length = 0; length < good.length; length++) {
    expect(readSignatureForm(good.subarray(0, length)), `length ${length}`).toBeNull()
  }
})

test('`readSignatureForm` rejects an Ed25519 signature that ends behind its subpackets', () => {
  const empty = concat(4, 0, 27, 8, 0, 0, 0, 0)
  for (const more of ['', '00', '0000']) expect(readSignatureForm(concat(empty, more))).toBeNull()
  const whole = concat(empty, '0000', '00'.repeat(64))
  expect(readSignatureForm(whole)).toMatchObject({ algorithm: 27, hashed: [], unhashed: [] })
})

test('`readSignatureForm` reads 512 bytes and rejects 513', () => {
  const signing = { signer: ed25519Native('long', MADE_MS) }
  const bare = body({ ...signing, hashed: [notation('x@y', '')] }).length
  // From 192 bytes on the length of a subpacket takes two.
  const filled = (length: number): Buffer =>
    body({ ...signing, hashed: [notation('x@y', 'v'.repeat(length - bare - 1))] })
  expect(filled(512)).toHaveLength(512)
  expect(readSignatureForm(filled(512))).not.toBeNull()
  expect(readSignatureForm(filled(513))).toBeNull()
})

test('`soleSubpacket` returns a subpacket that is the only one of its kind', () => {
  const { hashed } = form({ hashed: [keyFlags(3), notation('a@b', 'c'), notation('d@e', 'f')] })
  expect(soleSubpacket(hashed, 27)).toEqual(Buffer.from([3]))
  expect(soleSubpacket(hashed, 20)).toBeNull()
  expect(soleSubpacket(hashed, 9)).toBeNull()
})

test.each([
  ['unhashed', { undated: true, unhashed: [created(NOW_MS)] }, null],
  ['of three bytes', { undated: true, hashed: [subpacket(2, concat('010203'))] }, null],
  ['of five bytes', { undated: true, hashed: [subpacket(2, concat('0102030405'))] }, null],
])('the creation time of a signature is null where it is %s', (_, options, expected) => {
  expect(createdS(form(options))).toBe(expected)
})

const byId = issuer(signer.fingerprint)
const byFingerprint = issuerFingerprint(signer.fingerprint)
const otherFingerprint = issuerFingerprint(mallory.primary.fingerprint)

test.each<[string, boolean, Buffer[], Buffer[]]>([
  ['key id and fingerprint, both twice,', true, [byId, byFingerprint], [byFingerprint, byId]],
  ['other subpackets', false, [keyFlags(3)], [notation('a@b', 'c')]],
  ['another hashed fingerprint', false, [otherFingerprint], [byFingerprint]],
  ['a fingerprint of another version', false, [], [subpacket(33, concat(5, fingerprint))]],
  ['a truncated fingerprint', false, [], [subpacket(33, concat(4, fingerprint.subarray(1)))]],
  ['a truncated key id', false, [], [subpacket(16, fingerprint.subarray(13))]],
  ['a fingerprint as a key id', false, [], [subpacket(16, fingerprint)]],
])('a signature that names %s has `isIssuedBy` %s', (_, expected, hashed, unhashed) => {
  expect(isIssuedBy(form({ hashed, unhashed }), fingerprint)).toBe(expected)
})

const point = signer.body.subarray(-32)
const key = { algorithm: 22 as const, createdS: MADE_MS / 1000, point }

test('`statementOf` hashes the document, the hashed part and its length', () => {
  const read = form()
  const signed = concat(over, good.subarray(0, hashedEnd), 4, 255, u32(hashedEnd))
  const digest = createHash('sha256').update(signed).digest()
  expect(statementOf(read, over, key)).toEqual({
    algorithm: 22,
    digest,
    point,
    numbers: read.numbers,
  })
  expect(statementOn(read, digest, key)).toMatchObject({ digest, numbers: read.numbers })
})

test('a statement is null for another algorithm, another document and another digest', () => {
  const read = form()
  const other = { ...key, algorithm: 27 as const }
  expect(statementOf(read, over, other)).toBeNull()
  expect(statementOf(read, Buffer.from('hallo'), key)).toBeNull()
  const digest = concat(read.left, Buffer.alloc(30))
  expect(statementOn(read, digest, key)).not.toBeNull()
  expect(statementOn(read, digest, other)).toBeNull()
  for (const at of [0, 1]) {
    const wrong = flipByte(digest, at)
    expect(statementOn(read, wrong, key)).toBeNull()
  }
})

test('`statementOf` accepts a hashed part of more than 255 bytes', () => {
  const long = form({ hashed: [notation('x@y', 'v'.repeat(260))] })
  expect(long.hashedPart.length).toBeGreaterThan(255)
  expect(statementOf(long, over, key)).not.toBeNull()
  expect(u16(long.hashedPart.length - 6)).toEqual(long.hashedPart.subarray(4, 6))
})
