import { deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { FORM_BYTES, sealedForm } from '../../../src/openpgp/format/encrypted-message.ts'
import { KEY, hello } from '../../support/openpgp-engine.ts'
import {
  armor,
  longPacket,
  oldPacket,
  packet,
  partialPacket,
} from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { NOW_MS, alice, bot } from '../../support/openpgp-people.ts'
import { pkesk6, pkeskBody, seipd, seipdBody, strangerPkesk } from '../../support/openpgp-sealed.ts'

const formOf = (content: Uint8Array | string): string | null =>
  sealedForm(Buffer.from(content).subarray(0, FORM_BYTES))

const container = seipdBody(literal(seeded('much', 5000)), KEY)
const recipient = pkeskBody(bot.subkey, KEY, 'x')

test.each([
  ['a message', hello()],
  ['for somebody else', concat(strangerPkesk('x'), packet(18, container))],
  ['old headers', concat(oldPacket(1, recipient, 2), packet(18, container))],
  ['long headers', concat(longPacket(1, recipient), longPacket(18, container))],
  ['version 6', concat(pkesk6(bot.subkey, KEY), packet(18, container))],
  ['partial chunks and no recipient', partialPacket(18, container, [9])],
  ['a passphrase', packet(3, concat('040900'))],
  ['a marker first', concat(packet(10, Buffer.from('PGP')), hello())],
  ['padding first', concat(packet(21, seeded('padding', 300)), hello())],
  ['a recipient of a version to come', concat(packet(1, concat(23, seeded('x', 80))), hello())],
])('%s is an encrypted message, also in armor', (_, bytes) => {
  expect(formOf(bytes)).toBe('binary')
  expect(formOf(armor(bytes))).toBe('armored')
  expect(formOf(armor(bytes, { headers: ['Version: X', 'Comment:'], endOfLine: '\r\n' }))).toBe(
    'armored',
  )
  expect(formOf(`\n\n${armor(bytes)}`)).toBe('armored')
})

test.each([
  ['nothing', ''],
  ['words', 'hello'],
  ['words that begin like a packet', 'été à la plage'],
  ['JPEG', concat('ffd8ffe000104a46494600010100000100010000', seeded('jpeg', 500))],
  ['PNG', concat('89504e470d0a1a0a0000000d49484452', seeded('png', 500))],
  ['PDF', '%PDF-1.7\n'],
  ['zlib', deflateSync('x'.repeat(99))],
  ['gzip', gzipSync('x'.repeat(99))],
  ['a literal', literal('hello')],
  ['signed words', signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS })],
  ['signed words in armor', armor(signedLiteral('hello', { signer: alice.primary, atMs: NOW_MS }))],
  ['a certificate', alice.certificate],
  ['a secret key', concat(packet(5, alice.primary.secretBody))],
  ['encrypted data of the old kind', packet(9, seeded('x', 50))],
  ['a version of the container that is not known', packet(18, concat(7, seeded('x', 50)))],
  ['words about armor', 'see -----BEGIN PGP MESSAGE-----\n\nand'],
  ['a message after a document', concat(literal('hello'), hello())],
  ['a message after words', concat(Buffer.from('hello'), hello())],
  ['a marker and nothing else', packet(10, Buffer.from('PGP'))],
  ['half a header', concat('c1')],
  ['armor around words', `-----BEGIN PGP MESSAGE-----\n\n${btoa('hello')}\n`],
])('%s is somebody’s file', (_, content) => {
  expect(formOf(content)).toBeNull()
})

test('what the first bytes do not decide is somebody’s file', () => {
  const padding = packet(21, seeded('padding', FORM_BYTES))
  expect(formOf(concat(padding, seipd(literal('hello'), KEY)))).toBeNull()
})

test.each([
  ['public key encrypted session key', 1, [2, 3, 6]],
  ['symmetric key encrypted session key', 3, [4, 5, 6]],
  ['encrypted data', 18, [1, 2]],
])('a %s packet begins a message in its known versions alone', (_, tag, versions) => {
  const beginning = Array.from({ length: 16 }, (__, version) => version).filter(
    (version) => sealedForm(packet(tag, Buffer.of(version, 0))) === 'binary',
  )
  expect(beginning).toEqual(versions)
})
